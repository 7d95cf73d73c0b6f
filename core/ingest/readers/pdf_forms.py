"""Form fields of PDF pages: what was filled in, ticked or chosen, as "label: value"."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

_OPTIONS = 1000  # of one list that are looked through for the ones chosen
_PASSWORD = 1 << 13  # flag of a text field whose content is not to be shown (ISO 32000-1, table 228)
_LONGEST = 1 << 20  # bytes of a value
_INDEX = re.compile(r"\[\d+\]$")
_JUST_ON = frozenset({"", "yes", "on", "true", "1", "x", "checked"})
_TEXT = (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
_TICKED = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)


def field_text(form: pdfium.PdfFormEnv | None, annotation: Any) -> tuple[str, str]:
    """Label and value of the field that a widget shows; an empty value where nothing was filled in.

    Without a form environment it is what stands in the widget itself. What stands in password fields is never read.
    """
    if form is None:
        return _bare_widget(annotation)
    kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in _TEXT:
        if raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD and kind == raw.FPDF_FORMFIELD_TEXTFIELD:
            return "", ""
        value = wide_string(lambda b, n: raw.FPDFAnnot_GetFormFieldValue(form, annotation, b, n))
        if value and kind != raw.FPDF_FORMFIELD_TEXTFIELD:
            value = _chosen(form, annotation) or value
    elif kind in _TICKED and raw.FPDFAnnot_IsChecked(form, annotation):
        value = wide_string(lambda b, n: raw.FPDFAnnot_GetFormFieldExportValue(form, annotation, b, n))
        value = "checked" if value.strip().lower() in _JUST_ON else value
    else:
        return "", ""
    return (_label(form, annotation), value) if value.strip() else ("", "")


def _bare_widget(annotation: Any) -> tuple[str, str]:
    flags = ctypes.c_float()
    raw.FPDFAnnot_GetNumberValue(annotation, b"Ff", ctypes.byref(flags))
    kind = wide_string(lambda b, n: raw.FPDFAnnot_GetStringValue(annotation, b"FT", b, n))
    if kind not in ("Tx", "Ch") or (kind == "Tx" and int(flags.value) & _PASSWORD):
        return "", ""
    values = (
        wide_string(lambda b, n, key=key: raw.FPDFAnnot_GetStringValue(annotation, key, b, n))  # type: ignore[misc]
        for key in (b"TU", b"T", b"V")
    )
    told, name, value = values
    return (told or field_label(name), value) if value.strip() else ("", "")


def _label(form: Any, annotation: Any) -> str:
    """What the form calls the field for its reader, else the last part of its name."""
    told = wide_string(lambda b, n: raw.FPDFAnnot_GetFormFieldAlternateName(form, annotation, b, n)).strip()
    if told:
        return told
    name = wide_string(lambda b, n: raw.FPDFAnnot_GetFormFieldName(form, annotation, b, n))
    return field_label(name)


def field_label(name: str) -> str:
    """The last part of a full field name: "page1[0].given_name[0]" is "given_name"."""
    return _INDEX.sub("", name.rpartition(".")[2]).strip()


def _chosen(form: Any, annotation: Any) -> str:
    """The chosen options as the list shows them."""
    count = min(raw.FPDFAnnot_GetOptionCount(form, annotation), _OPTIONS)
    chosen = [i for i in range(count) if raw.FPDFAnnot_IsOptionSelected(form, annotation, i)]
    labels = (
        wide_string(lambda b, n, i=i: raw.FPDFAnnot_GetOptionLabel(form, annotation, i, b, n))  # type: ignore[misc]
        for i in chosen
    )
    return ", ".join(label for label in labels if label)


def wide_string(call: Callable[[Any, int], int]) -> str:
    """What one of PDFium's calls gives that fill a buffer with UTF-16 and tell its length in bytes."""
    size = call(None, 0)
    if not 2 < size <= _LONGEST:
        return ""
    buffer = ctypes.create_string_buffer(size)
    call(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")
