"""Pictures: each frame or page of the file is a page, and its text is what can be read in it (OCR)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError

from core.base.types import BlockKind, DocumentState, ReadDocument
from core.ingest import ocr
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, failure
from core.ingest.readers.pdf_layout import LIST_MARK
from core.ingest.readers.picture import NOT_INSTALLED, Pictures, PictureText, sentence, still_to_read

_MOST_PIXELS = 120_000_000  # of one frame; a larger one is refused before it is unpacked
_LONGEST_SIDE = 4000  # pixels; what is larger is read at about this size
_MOST_FRAMES = 2000
_DATE = re.compile(r"(\d{4})[:\-](\d{2})[:\-](\d{2})[ T](\d{2}):(\d{2}):(\d{2})")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame the way up it is meant, on white: [h, w, 3] uint8, and its size before it was made smaller."""

    pixels: np.ndarray
    width: int
    height: int


class TooManyPixels(Exception):
    """A picture whose pixels would need too much memory."""


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    if not limits.ocr:
        yield failure(DocumentState.SCANNED, "The file is a picture, and reading text in pictures is switched off.")
        return
    if not ocr.available():
        yield failure(DocumentState.SCANNED, f"The file is a picture. {NOT_INSTALLED}")
        return
    try:
        with open_image(path) as image:
            yield _read(image, limits, tick)
    except TooManyPixels as error:
        yield failure(DocumentState.TOO_LARGE, str(error))
    except UnidentifiedImageError:
        yield failure(DocumentState.BROKEN, "The picture is damaged: it cannot be opened.")


@contextmanager
def open_image(path: str | Path) -> Iterator[Image.Image]:
    """The file as an image, not unpacked yet. Raises TooManyPixels, UnidentifiedImageError, OSError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of odd metadata, and of sizes, which are looked at here
        try:
            image = Image.open(path)
        except Image.DecompressionBombError as error:
            raise TooManyPixels("The picture has more pixels than are read.") from error
        with image:
            yield image


def frame(image: Image.Image, number: int, longest_side: int = _LONGEST_SIDE) -> Frame:
    """Frame `number` (from 1), halved, cut to a third, ... until its longest side is about `longest_side`.

    Raises:
        TooManyPixels
        OSError, EOFError, SyntaxError, ValueError: the frame is damaged.
    """
    image.seek(number - 1)
    width, height = image.size
    if width * height > _MOST_PIXELS:
        raise TooManyPixels(f"The picture has {width:,} by {height:,} pixels; up to {_MOST_PIXELS:,} are read.")
    smaller = _eight_bits(image)
    step = -(-max(width, height) // longest_side)
    if step > 1:
        smaller = _on_white(smaller).reduce(step)
    turned = image.getexif().get(ExifTags.Base.Orientation, 1) >= 5
    upright = _turned(smaller, image.getexif())
    return Frame(np.asarray(_on_white(upright)), *((height, width) if turned else (width, height)))


def _turned(image: Image.Image, exif: Image.Exif) -> Image.Image:
    """As the camera says that it was held; the metadata itself may have got lost on the way."""
    image.getexif()[ExifTags.Base.Orientation] = exif.get(ExifTags.Base.Orientation, 1)
    return ImageOps.exif_transpose(image)


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey of 16 or 32 bits is spread over 8, which Pillow would cut off."""
    if not image.mode.startswith(("I", "F")):
        return image
    values = np.asarray(image, np.float32)
    low, high = float(values.min()), float(values.max())
    return Image.fromarray(((values - low) * (255.0 / max(1e-9, high - low))).astype(np.uint8))


def _on_white(image: Image.Image) -> Image.Image:
    if not image.has_transparency_data:
        return image.convert("RGB")
    over = image.convert("RGBA")
    white = Image.new("RGBA", over.size, "white")
    return Image.alpha_composite(white, over).convert("RGB")


def _read(image: Image.Image, limits: Limits, tick: Tick) -> ReadDocument:
    builder = TextBuilder(limits.output_characters)
    pictures = Pictures(limits, tick)
    frames = getattr(image, "n_frames", 1)
    pages = min(frames, _MOST_FRAMES) if image.format == "TIFF" else 1  # others hold animations and thumbnails
    about = _about(image)
    read: list[int] = []
    broken: list[int] = []
    hard: list[int] = []
    for number in range(1, pages + 1):
        tick()
        try:
            picture = frame(image, number)
        except (OSError, EOFError, SyntaxError, ValueError):
            broken.append(number)
            builder.open_page(number)
            continue
        builder.open_page(number, picture.width, picture.height)
        scale = picture.width / picture.pixels.shape[1]
        found = pictures.read(number, pages, partial(_pixels, picture), scale)
        if found is not None and found.blocks:
            read.append(number)
            hard += [number] if found.is_hard else []
            _add(builder, found)
    told = (
        (hard, "{pages} {were} hard to make out: words may be wrong."),
        (broken, "{pages} {were} damaged and not read."),
        (pictures.skipped, f"{{pages}} {{were}} not read: up to {limits.ocr_pages:,} pictures of a file are."),
    )
    said = tuple(sentence(words, numbers) for numbers, words in told if numbers)
    if frames > pages:
        said += (f"Only {pages:,} of its {frames:,} frames {'was' if pages == 1 else 'were'} read.",)
    result = builder.build(**about, warnings=said, ocr_pages=tuple(read))
    if pictures.later and result.state in (DocumentState.READ, DocumentState.EMPTY):
        return replace(result, state=DocumentState.UNFINISHED, reason=still_to_read(len(pictures.later)))
    if not result.text:
        return _without_text(result, len(broken) == pages)
    if pictures.skipped and result.state is DocumentState.READ:
        reason = f"{len(pictures.skipped):,} of its pages were not read: up to {limits.ocr_pages:,} are."
        return replace(result, state=DocumentState.TRUNCATED, reason=reason)
    return result


def _without_text(result: ReadDocument, all_broken: bool) -> ReadDocument:
    if all_broken:
        return replace(result, state=DocumentState.BROKEN, reason="The picture is damaged: it ends too early.")
    return replace(result, state=DocumentState.EMPTY, reason="No text was found in the picture.")


def _pixels(picture: Frame) -> np.ndarray:
    return picture.pixels


def _add(builder: TextBuilder, found: PictureText) -> None:
    for block in found.blocks:
        kind = BlockKind.LIST_ITEM if LIST_MARK.match(block.text) else BlockKind.PARAGRAPH
        builder.add(block.text, BlockKind.TABLE_ROW if block.is_row else kind, boxes=block.boxes)


def _about(image: Image.Image) -> dict[str, str]:
    """Title, author and date as the file tells them (Exif 2.3; PNG text)."""
    exif = image.getexif()
    details = exif.get_ifd(ExifTags.IFD.Exif)
    told = {str(key).casefold(): value for key, value in image.info.items() if isinstance(value, str)}
    tags = ExifTags.Base
    return {
        "title": _plain(exif.get(tags.XPTitle) or exif.get(tags.ImageDescription) or told.get("title")),
        "author": _plain(exif.get(tags.Artist) or exif.get(tags.XPAuthor) or told.get("author")),
        "created": _date(details.get(tags.DateTimeOriginal) or details.get(tags.DateTimeDigitized)),
        "modified": _date(exif.get(tags.DateTime)),
    }


def _plain(value: object) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-16-le", "replace")  # the XP tags
    return value.split("\0", 1)[0].strip() if isinstance(value, str) else ""


def _date(value: object) -> str:
    found = _DATE.match(value) if isinstance(value, str) else None
    if found is None or not (1 <= int(found[2]) <= 12 and 1 <= int(found[3]) <= 31):
        return ""
    return f"{found[1]}-{found[2]}-{found[3]}T{found[4]}:{found[5]}:{found[6]}"
