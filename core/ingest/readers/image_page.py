"""Image files shown as pages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from core.base.errors import KnownError
from core.ingest.readers.image import TooManyPixels, frame, open_image
from core.ingest.readers.pdf_page import png

_MOST_PIXELS = 16_000_000


def render(path: str | Path, page_number: int, scale: float) -> tuple[bytes, int, int]:
    """The page as PNG with its width and height in pixels; `scale` 1 is a pixel of the screen for one of the picture.

    Raises:
        KnownError: the page cannot be shown.
    """
    try:
        with open_image(path) as image:
            found = frame(image, page_number)
    except (TooManyPixels, UnidentifiedImageError, OSError, EOFError, SyntaxError, ValueError) as error:
        raise KnownError(f"Page {page_number} cannot be shown.", "Open the file in another program.") from error
    factor = min(scale, (_MOST_PIXELS / max(1, found.width * found.height)) ** 0.5)
    size = max(1, round(found.width * factor)), max(1, round(found.height * factor))
    pixels = np.asarray(Image.fromarray(found.pixels).resize(size, Image.Resampling.BILINEAR))
    return png(pixels), *size
