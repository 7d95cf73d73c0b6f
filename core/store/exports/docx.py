"""A conversation as a DOCX file: the few parts of the format that it needs, written as XML (ECMA-376, part 1)."""

from __future__ import annotations

import io
import re
import zipfile
from xml.sax.saxutils import escape

from core.store.exports.content import Content, Line, Part, Section, Source

_MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MOMENT = (1980, 1, 1, 0, 0, 0)  # equal conversations give equal files
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STYLES = (  # id, name, properties of paragraphs, of their characters
    ("Title", "Title", '<w:spacing w:after="240"/>', '<w:b/><w:sz w:val="40"/>'),
    ("Heading1", "heading 1", '<w:keepNext/><w:spacing w:before="360" w:after="80"/><w:outlineLvl w:val="0"/>',
     '<w:b/><w:sz w:val="28"/>'),
    ("Heading2", "heading 2", '<w:keepNext/><w:spacing w:before="200" w:after="60"/><w:outlineLvl w:val="1"/>',
     '<w:b/><w:sz w:val="24"/>'),
    ("Quote", "Quote", '<w:spacing w:after="100"/><w:ind w:left="400"/>', ""),
    ("Small", "Small", '<w:spacing w:after="60"/>', '<w:color w:val="566070"/><w:sz w:val="19"/>'),
)  # fmt: skip


def docx(content: Content) -> bytes:
    """The bytes of the file."""
    body = [_paragraph("Title", _run(content.title))]
    body += [text for section in content.sections for text in _section(section)]
    page = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1300" w:right="1300" w:bottom="1300" w:left="1300"/></w:sectPr>'  # noqa: E501
    document = f'<w:document xmlns:w="{_MAIN}"><w:body>{"".join(body)}{page}</w:body></w:document>'
    parts = {
        "[Content_Types].xml": _types(),
        "_rels/.rels": _relations(("officeDocument", "word/document.xml")),
        "word/document.xml": document,
        "word/_rels/document.xml.rels": _relations(("styles", "styles.xml")),
        "word/styles.xml": _styles(),
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            entry = zipfile.ZipInfo(name, _MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, (_DECLARED + text).encode())
    return written.getvalue()


def _section(section: Section) -> list[str]:
    asked = f" ({section.asked})" if section.asked else ""
    made = [_paragraph("Heading1", _run(section.question)), _paragraph("Small", _run(section.how + asked))]
    made += [text for part in section.parts for text in _part(part, section.quoted)]
    if section.sources:
        made.append(_paragraph("Small", _run(section.sources_title, bold=True)))
    return made + [_paragraph("Small", _run(_source(source))) for source in section.sources]


def _part(part: Part, quoted: bool) -> list[str]:
    heading = [_paragraph("Heading2", _run(part.heading))] if part.heading else []
    if quoted:
        return [*heading, *(_paragraph("Quote", _line(line)) for line in part.lines)]
    return [*heading, _paragraph("", _run(" ").join(_line(line) for line in part.lines))]


def _line(line: Line) -> str:
    marks = "".join(f"[{marker}]" for marker in line.markers)
    return _run(line.text) + (_run(f" {marks}") if marks else "")


def _source(source: Source) -> str:
    mark = f"[{source.marker}] " if source.marker else ""
    return f"{mark}{source.place}" + (f": “{source.quote}”" if source.quote else "")


def _run(text: str, *, bold: bool = False) -> str:
    look = "<w:rPr><w:b/></w:rPr>" if bold else ""
    shown = escape(_NOT_XML.sub("\ufffd", text))
    return f'<w:r>{look}<w:t xml:space="preserve">{shown}</w:t></w:r>'


def _paragraph(style: str, runs: str) -> str:
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}{runs}</w:p>"


def _types() -> str:
    parts = (("/word/document.xml", "document.main"), ("/word/styles.xml", "styles"))
    named = "".join(f'<Override PartName="{name}" ContentType="{_KIND}.{kind}+xml"/>' for name, kind in parts)
    kinds = (("rels", "application/vnd.openxmlformats-package.relationships+xml"), ("xml", "application/xml"))
    defaults = "".join(f'<Default Extension="{suffix}" ContentType="{kind}"/>' for suffix, kind in kinds)
    return f'<Types xmlns="{_PACKAGE}/content-types">{defaults}{named}</Types>'


def _relations(*targets: tuple[str, str]) -> str:
    rows = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{rows}</Relationships>'


def _styles() -> str:
    normal = (
        '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri"/><w:sz w:val="22"/></w:rPr>'
        '</w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="276" w:lineRule="auto"/></w:pPr>'
        '</w:pPrDefault></w:docDefaults><w:style w:type="paragraph" w:default="1" w:styleId="Normal">'
        '<w:name w:val="Normal"/></w:style>'
    )
    others = "".join(
        f'<w:style w:type="paragraph" w:styleId="{style}"><w:name w:val="{name}"/><w:basedOn w:val="Normal"/>'
        f"<w:pPr>{paragraph}</w:pPr><w:rPr>{characters}</w:rPr></w:style>"
        for style, name, paragraph, characters in _STYLES
    )
    return f'<w:styles xmlns:w="{_MAIN}">{normal}{others}</w:styles>'
