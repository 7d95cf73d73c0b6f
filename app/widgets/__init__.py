"""Shared widgets.

page.Page, buttons.Button / IconButton / NavButton / Chip, card.Card / Rule / Scroller / row, labels.Label /
ElidedLabel / Badge / set_tone, search_box.SearchBox, empty_state.EmptyState / IconLabel, busy.Busy / Spinner,
banner.Banner, icons.icon / pixmap. Each is styled by `resources/styles/whymatch.qss` through dynamic properties.
"""
