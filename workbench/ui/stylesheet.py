"""The one style sheet, written from the theme's tokens: Fusion does the rest.

Widgets choose a look by the dynamic property `look`: "primary", "quiet", "link" and "tool" for buttons,
"panel", "card", "banner" and "strip" for frames; `ink` for labels: "caption", "section", "secondary",
"name", "heading", "title", "figure", "danger".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.ui.theme import Tokens

_SHEET = """
QMainWindow, QDialog {{ background: {window}; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QMainWindow::separator:vertical {{ background: {border}; width: 1px; margin: 0 4px 0 3px; }}
QMainWindow::separator:horizontal {{ background: {border}; height: 1px; margin: 3px 0 4px 0; }}
QMainWindow::separator:hover {{ background: {accent}; }}
QSplitter::handle {{ width: 7px; height: 7px; }}
QSplitter::handle:horizontal {{ background: {border}; width: 1px; margin: 0 4px 0 3px; }}
QSplitter::handle:vertical {{ background: transparent; border-top: 1px solid {border}; }}
QToolTip {{ background: {raised}; color: {text}; border: 1px solid {border}; padding: 4px 8px; }}
QFrame[look="panel"], QWidget[look="panel"] {{ background: {surface}; border: none; }}
QFrame[look="card"] {{ background: {surface}; border: 1px solid {border}; border-radius: 6px; padding: 1px; }}
QFrame[look="card"]:hover {{ border-color: {accent}; }}
QFrame[look="card"]:focus {{ border: 2px solid {accent}; padding: 0; }}
QFrame[look="popover"] {{ background: {surface}; border: 1px solid {control}; border-radius: 6px; }}
QFrame[look="banner"] {{ background: {warning_soft}; border: none; border-radius: 6px; }}
QFrame[look="notice"] {{ background: {danger_soft}; border: none; border-bottom: 1px solid {border}; }}
QFrame[look="hint"] {{ background: {accent_soft}; border: none; border-bottom: 1px solid {border}; }}
QFrame[look="strip"] {{ background: {raised}; border: none; border-radius: 6px; }}
QFrame[look="line"] {{ background: {border}; border: none; max-height: 1px; min-height: 1px; }}
QFrame[look="drop"] {{ background: transparent; border: 1px dashed {control}; border-radius: 8px; }}
QFrame[look="drop"][over="true"] {{ background: {accent_soft}; border-color: {accent}; }}
QScrollArea, QScrollArea > QWidget > QWidget[look="page"] {{ background: transparent; border: none; }}

QToolBar {{ background: {surface}; border: none; border-bottom: 1px solid {border}; padding: 4px 16px 4px 8px;
           spacing: 4px; }}
QToolBar#strip {{ border-bottom: none; border-left: 1px solid {border}; padding: 8px 4px; }}
QToolBar::separator {{ background: {border}; width: 1px; margin: 8px 4px; }}
QToolButton {{ background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 4px 8px;
              color: {text}; min-height: {tool}px; }}
QToolButton:hover {{ background: {hover}; }}
QToolButton:pressed, QToolButton:checked {{ background: {accent_soft}; }}
QToolButton:focus {{ border: 2px solid {accent}; padding: 3px 7px; }}
QToolButton:disabled {{ color: {disabled}; }}
QToolButton::menu-indicator {{ image: none; }}
QToolButton[look="bare"] {{ padding: 0; min-height: {target}px; min-width: {target}px; }}
QToolButton[look="bare"]:focus {{ padding: 0; min-height: {target_focus}px; min-width: {target_focus}px; }}

QPushButton {{ background: {surface}; color: {text}; border: 1px solid {control}; border-radius: 6px;
              padding: 0 12px; min-height: {button}px; }}
QPushButton:hover {{ background: {hover}; }}
QPushButton:pressed {{ background: {raised}; }}
QPushButton:focus {{ border: 2px solid {accent}; padding: 0 11px; min-height: {button_focus}px; }}
QPushButton:disabled {{ color: {disabled}; border-color: {border}; }}
QPushButton[look="primary"] {{ background: {accent}; color: {on_accent}; border: 1px solid {accent};
                              min-height: {primary}px; padding: 0 16px; }}
QPushButton[look="primary"]:hover {{ background: {accent_hover}; border-color: {accent_hover}; }}
QPushButton[look="primary"]:focus {{ border: 2px solid {text}; min-height: {primary_focus}px;
                                    padding: 0 15px; }}
QPushButton[look="primary"]:disabled {{ background: {raised}; color: {disabled}; border-color: {border}; }}
QPushButton[look="quiet"] {{ background: transparent; border: 1px solid transparent; color: {accent};
                            padding: 0 8px; }}
QPushButton[look="quiet"]:hover {{ background: {hover}; }}
QPushButton[look="quiet"]:focus {{ border: 2px solid {accent}; padding: 0 7px; }}
QPushButton[look="quiet"]:disabled {{ color: {disabled}; }}
QPushButton[look="compact"] {{ padding: 0 8px; }}
QPushButton[look="compact"]:focus {{ padding: 0 7px; }}

QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox, QAbstractSpinBox {{
    background: {surface}; color: {text}; border: 1px solid {control}; border-radius: 4px; padding: 0 8px;
    min-height: {field}px; selection-background-color: {accent}; selection-color: {on_accent}; }}
QLineEdit:focus, QComboBox:focus, QAbstractSpinBox:focus {{ border: 2px solid {accent}; padding: 0 7px;
    min-height: {field_focus}px; }}
QLineEdit:disabled, QComboBox:disabled, QAbstractSpinBox:disabled {{ color: {disabled};
    border-color: {border}; }}
QLineEdit[invalid="true"], QAbstractSpinBox[invalid="true"] {{ border: 2px solid {danger}; padding: 0 7px;
    min-height: {field_focus}px; }}
QComboBox {{ padding-right: 20px; }}
QComboBox:focus {{ padding-right: 20px; }}
QComboBox::drop-down {{ border: none; width: 20px; }}
QComboBox::down-arrow {{ image: url({arrow}); width: 12px; height: 12px; }}
QComboBox QAbstractItemView {{ background: {surface}; border: 1px solid {border}; padding: 4px;
    selection-background-color: {accent_soft}; selection-color: {text}; outline: none; }}
QPlainTextEdit, QTextEdit {{ background: {surface}; border: 1px solid {border}; border-radius: 4px;
    selection-background-color: {accent}; selection-color: {on_accent}; }}
QPlainTextEdit:focus, QTextEdit:focus {{ border: 2px solid {accent}; }}

QAbstractItemView {{ background: {surface}; border: none; outline: none;
    selection-background-color: {accent_soft}; selection-color: {text}; }}
QAbstractItemView::item:hover {{ background: {hover}; }}
QAbstractItemView::item:selected {{ background: {accent_soft}; color: {text}; }}
QTableView::item {{ padding: 0 5px; }}
QTreeView::item {{ min-height: {row}px; }}
QTableView::item:focus, QTreeView::item:focus {{ border: 2px solid {accent}; }}
QTableView::item:focus {{ padding: 0 3px; }}
QHeaderView {{ background: {surface}; border: none; }}
QHeaderView::section {{ background: {surface}; color: {text2}; border: none;
    padding: 0 8px; min-height: {field}px; }}
QHeaderView::section:horizontal {{ border-bottom: 1px solid {border}; }}
QHeaderView::section:vertical {{ color: {text3}; }}
QAbstractScrollArea::corner {{ background: transparent; border: none; }}
QTableView {{ gridline-color: {raised}; }}
QTableCornerButton::section {{ background: {surface}; border: none; border-bottom: 1px solid {border}; }}

QTabWidget::pane {{ border: none; border-top: 1px solid {border}; }}
QTabBar {{ background: {window}; }}
QTabBar::tab {{ background: transparent; color: {text2}; padding: 0 16px; min-height: {tab}px;
    border: none; border-bottom: 2px solid transparent; }}
QTabBar::tab:selected {{ color: {text}; border-bottom-color: {accent}; }}
QTabBar::tab:hover {{ color: {text}; background: {hover}; }}
QTabBar::tab:focus {{ color: {text}; border: 2px solid {accent}; padding: 0 14px;
    min-height: {tab_focus}px; }}
QTabBar[look="dense"]::tab {{ padding: 0 8px; }}
QTabBar[look="dense"]::tab:focus {{ padding: 0 6px; }}
QTabBar::scroller {{ width: {scroller}px; }}
QTabBar::tear {{ width: 0; image: none; border: none; }}
QTabBar QToolButton {{ background: {window}; border: none; border-radius: 0; padding: 0; min-height: 0; }}
QTabBar QToolButton:hover {{ background: {hover}; }}
QTabBar QToolButton::left-arrow {{ image: url({left}); width: 12px; height: 12px; }}
QTabBar QToolButton::right-arrow {{ image: url({right}); width: 12px; height: 12px; }}
QTabBar QToolButton::left-arrow:disabled, QTabBar QToolButton::right-arrow:disabled {{ image: none; }}

QMenuBar {{ background: {surface}; color: {text}; padding: 0 4px; }}
QMenuBar::item {{ padding: 4px 8px; background: transparent; border-radius: 4px; }}
QMenuBar::item:selected {{ background: {hover}; }}
QMenu {{ background: {surface}; border: 1px solid {border}; padding: 4px; }}
QMenu::item {{ padding: 4px 24px 4px 8px; border-radius: 4px; min-height: 20px; }}
QMenu::item:selected {{ background: {accent_soft}; color: {text}; }}
QMenu::item:disabled {{ color: {disabled}; }}
QMenu[look="told"]::item:disabled {{ color: {text2}; }}
QMenu::separator {{ height: 1px; background: {border}; margin: 4px 0; }}
QMenu::icon {{ padding-left: 4px; }}
QStatusBar {{ background: {surface}; border-top: 1px solid {border}; color: {text2}; }}
QStatusBar::item {{ border: none; }}
QProgressBar {{ background: {raised}; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; }}
QProgressBar::chunk {{ background: {accent}; border-radius: 2px; }}
QProgressBar[look="edge"] {{ background: transparent; border-radius: 0; max-height: 2px; min-height: 2px; }}

QScrollBar:vertical {{ background: transparent; width: 12px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 12px; margin: 0; }}
QScrollBar::handle {{ background: {border}; border-radius: 3px; margin: 3px; min-height: 24px;
    min-width: 24px; }}
QScrollBar::handle:hover {{ background: {control}; }}
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {{
    background: none; border: none; width: 0; height: 0; }}
QDockWidget {{ color: {text2}; }}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{ subcontrol-origin: border; width: 0;
    border: none; }}
QAbstractSpinBox QLineEdit {{ background: transparent; border: none; padding: 0; min-height: 0; }}
QCheckBox, QRadioButton {{ min-height: {target}px; spacing: 8px; }}
QCheckBox::indicator {{ width: 14px; height: 14px; background: {surface}; border: 1px solid {control};
    border-radius: 3px; }}
QCheckBox::indicator:checked {{ background: {accent}; border-color: {accent}; image: url({check}); }}
QCheckBox::indicator:focus {{ border: 2px solid {accent}; width: 12px; height: 12px; }}
QCheckBox::indicator:checked:focus {{ border-color: {text}; }}
QCheckBox::indicator:disabled {{ border-color: {border}; }}
QCheckBox::indicator:checked:disabled {{ background: {disabled}; border-color: {disabled}; }}
QRadioButton::indicator {{ width: 14px; height: 14px; background: {surface}; border: 1px solid {control};
    border-radius: 8px; }}
QRadioButton::indicator:checked {{ width: 6px; height: 6px; border: 5px solid {accent}; }}
QRadioButton::indicator:focus {{ width: 12px; height: 12px; border: 2px solid {accent}; }}
QRadioButton::indicator:checked:focus {{ width: 6px; height: 6px; border: 5px solid {text}; }}
QRadioButton::indicator:disabled {{ border-color: {border}; }}
QRadioButton::indicator:checked:disabled {{ border-color: {disabled}; }}
QSlider {{ min-height: {target}px; }}
QSlider::groove:horizontal {{ height: 4px; background: {border}; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ background: {accent}; border-radius: 2px; }}
QSlider::sub-page:horizontal:disabled {{ background: {disabled}; }}
QSlider::handle:horizontal {{ width: 14px; margin: -6px 0; background: {surface}; border: 1px solid {control};
    border-radius: 8px; }}
QSlider::handle:horizontal:hover, QSlider::handle:horizontal:pressed {{ border-color: {accent}; }}
QSlider::handle:horizontal:focus {{ width: 12px; border: 2px solid {accent}; }}
QSlider::handle:horizontal:disabled {{ border-color: {border}; }}
QGroupBox {{ border: none; margin: 0; padding: 0; }}
QGraphicsView {{ border: none; background: {window}; }}
TreeCanvas {{ border: 2px solid transparent; }}
TreeCanvas:focus {{ border-color: {accent}; }}

QLabel {{ background: transparent; }}
QLabel[ink="caption"] {{ color: {text3}; }}
QLabel[ink="section"] {{ color: {text2}; }}
QLabel[ink="secondary"] {{ color: {text2}; }}
QLabel[ink="danger"] {{ color: {danger}; }}
QLabel[ink="warning"] {{ color: {warning}; }}
QLabel[ink="good"] {{ color: {good}; }}
"""


def style_sheet(t: Tokens) -> str:
    """The application's style sheet in the colours of `t` and at the present text size."""
    from workbench.resources import path
    from workbench.ui import theme

    values: dict[str, Any] = {name: getattr(t, name) for name in type(t).__dataclass_fields__}
    for name, height in {"button": 28, "primary": 32, "field": 28}.items():
        values[name] = theme.scaled(height) - 2  # the border's two pixels lie outside of Qt's min-height
        values[f"{name}_focus"] = theme.scaled(height) - 4
    values |= {"tool": theme.scaled(22), "target": theme.scaled(24), "tab": theme.scaled(30)}
    values["row"] = theme.scaled(theme.CONTROL_HEIGHT)
    values["scroller"] = 2 * values["target"]  # two buttons
    values["target_focus"], values["tab_focus"] = values["target"] - 2, values["tab"] - 2
    ground = "dark" if t.is_dark else "light"
    values["arrow"] = path("icons", f"caret-down-{ground}.svg").as_posix()
    values |= {side: path("icons", f"caret-{side}-{ground}.svg").as_posix() for side in ("left", "right")}
    values["check"] = path("icons", f"check-{ground}.svg").as_posix()
    return _SHEET.format_map(values)
