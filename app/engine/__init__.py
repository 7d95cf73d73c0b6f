"""The window's side of the child processes: `engine.Engine` and its `call.Call`s."""
