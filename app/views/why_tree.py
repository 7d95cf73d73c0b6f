"""All raw figures of an explanation as a tree."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem

from app.i18n import tr
from app.widgets.page_offsets import one_line
from app.widgets.why_sections import all_figures
from core.base.types import Explanation


def figures_tree(e: Explanation) -> QTreeWidget:
    tree = QTreeWidget()
    tree.setHeaderLabels([tr("Figure"), tr("Value")])
    tree.setAccessibleName(tr("All figures"))
    tree.setAlternatingRowColors(False)
    tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
    for title, rows in all_figures(e):
        group = QTreeWidgetItem(tree, [title])
        group.setFirstColumnSpanned(True)
        for name, value in rows:
            QTreeWidgetItem(group, [one_line(name), value]).setToolTip(0, one_line(name))
        group.setExpanded(True)
    tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
    tree.header().setStretchLastSection(False)
    tree.setMinimumHeight(280)
    return tree
