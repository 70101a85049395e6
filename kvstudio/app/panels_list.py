"""The window's panels, in the order of the View menu."""

from kvstudio.app.panel import Panel
from kvstudio.app.panels.audio import AudioPanel
from kvstudio.app.panels.cache_map import CacheMapPanel
from kvstudio.app.panels.cases import CasesPanel
from kvstudio.app.panels.findings import FindingsPanel
from kvstudio.app.panels.frames import FramesPanel
from kvstudio.app.panels.layer import LayerPanel
from kvstudio.app.panels.ledger import LedgerPanel
from kvstudio.app.panels.log import LogPanel
from kvstudio.app.panels.ops import OpsPanel
from kvstudio.app.panels.setup import SetupPanel
from kvstudio.app.panels.tensors import TensorsPanel

PANELS: tuple[type[Panel], ...] = (
    SetupPanel,
    LedgerPanel,
    CasesPanel,
    CacheMapPanel,
    LayerPanel,
    FindingsPanel,
    OpsPanel,
    TensorsPanel,
    LogPanel,
    FramesPanel,
    AudioPanel,
)
