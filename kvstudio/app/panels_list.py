"""The window's panels, in the order of the View menu."""

from kvstudio.app.panel import Panel
from kvstudio.app.panels.cache_map import CacheMapPanel
from kvstudio.app.panels.log import LogPanel
from kvstudio.app.panels.setup import SetupPanel

PANELS: tuple[type[Panel], ...] = (SetupPanel, CacheMapPanel, LogPanel)
