"""Text to vectors: ONNX for serving, torch for training and export."""
