"""The recording's tables: one SQLite file, WAL while it grows, a single file when closed.

Documented for users who query it with plain `sqlite3`, for instance the ops of frame 7 in order:

    SELECT op.id, call.op, call.module, site.file, site.line, shapes.arguments, op.took_ns
    FROM op JOIN call ON call.id = op.call JOIN site ON site.id = call.site
            JOIN shapes ON shapes.id = op.shapes
    WHERE op.frame = 7 ORDER BY op.id;

Conventions: slot ranges are half open, [first, last). Blobs are raw little-endian arrays: K/V
values, latents and audio are float32. Times named `_ns` are nanoseconds; those of ops
count from the start of the run, which the voice prefill precedes. A text that occurs often is
stored once and referred to by id.
"""

APPLICATION_ID = 0x4B565354  # "KVST"
VERSION = 2

TABLES = """
-- Facts about the whole run, values as JSON: spec, versions, host, status, reason, pid,
-- sample_rate, frame_rate, started_at, model (the model's card), voice (the voice's card).
-- status: recording | finished | stopped | failed
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- One KV cache [2, B, T, H, D] of the model. T changes, so it is in cache_state.
CREATE TABLE cache (
    id            INTEGER PRIMARY KEY,
    model         TEXT NOT NULL,      -- flow_lm | mimi
    name          TEXT NOT NULL,      -- the state's key, such as transformer.layers.0.self_attn
    layer         INTEGER NOT NULL,   -- index within its transformer
    batch         INTEGER NOT NULL,   -- B
    heads         INTEGER NOT NULL,   -- H, key/value heads
    dim           INTEGER NOT NULL,   -- D, per head
    context       INTEGER,            -- slots that attention may look back; NULL: all
    weight_dtype  TEXT NOT NULL,      -- what the layer computes in
    weight_device TEXT NOT NULL
);

-- One _generate call: the text of one chunk and the sum that sizes its caches.
CREATE TABLE chunk (
    id              INTEGER PRIMARY KEY,
    text            TEXT NOT NULL,
    tokens          TEXT NOT NULL,    -- JSON list of [id, piece]
    current_end     INTEGER NOT NULL, -- offset before the text
    token_count     INTEGER NOT NULL,
    max_gen_len     INTEGER NOT NULL, -- frames the model estimates at most
    required_len    INTEGER NOT NULL, -- what _expand_kv_cache was asked for
    capacity_before INTEGER NOT NULL,
    capacity_after  INTEGER NOT NULL,
    continues       INTEGER,          -- the chunk whose state this one goes on with, if any
    mimi_steps      INTEGER NOT NULL, -- Mimi slots per latent
    started_at      REAL NOT NULL     -- seconds since the epoch
);

-- What a FlowLM cache held when the chunk began: [2, B, slots, H, D] float32. Equal ones
-- are stored once.
CREATE TABLE snapshot (
    id     INTEGER PRIMARY KEY,
    cache  INTEGER NOT NULL,
    slots  INTEGER NOT NULL,
    digest BLOB NOT NULL,
    "values" BLOB NOT NULL
);
CREATE TABLE chunk_base (
    chunk    INTEGER NOT NULL,
    cache    INTEGER NOT NULL,
    snapshot INTEGER,                 -- NULL: see chunk.continues
    offset   INTEGER NOT NULL,        -- slots in use
    PRIMARY KEY (chunk, cache)
) WITHOUT ROWID;

-- What _expand_kv_cache did to one cache, measured bit for bit.
CREATE TABLE expansion (
    chunk           INTEGER NOT NULL,
    cache           INTEGER NOT NULL,
    capacity_before INTEGER NOT NULL,
    capacity_after  INTEGER NOT NULL,
    changed_slot    INTEGER,          -- first old slot whose values changed; NULL: none
    not_nan_slot    INTEGER,          -- first new slot that is not all NaN; NULL: none
    fill            TEXT NOT NULL,    -- what new slots hold: nan, zero, other, none (no new slots)
    PRIMARY KEY (chunk, cache)
) WITHOUT ROWID;

-- One step: the voice prefill (id 0), a text prefill, or a decode step.
CREATE TABLE frame (
    id            INTEGER PRIMARY KEY,
    chunk         INTEGER NOT NULL,
    phase         TEXT NOT NULL,      -- voice | text | decode
    step          INTEGER NOT NULL,   -- decode step within the chunk; -1 for a prefill
    stop_logit    REAL,               -- input of the EOS comparison; a NaN is the text 'nan'
    stop_threshold REAL,
    eos           INTEGER NOT NULL,   -- 1: the logit exceeds the threshold
    op_count      INTEGER NOT NULL,
    flow_lm_ns    INTEGER NOT NULL,
    mimi_ns       INTEGER NOT NULL,
    began_ns      INTEGER NOT NULL,   -- since the start of the run
    problem       TEXT                -- the exception that ended the frame early
);
-- torch's CPU generator before the frame.
CREATE TABLE rng (frame INTEGER PRIMARY KEY, state BLOB NOT NULL);
CREATE TABLE latent (
    frame INTEGER PRIMARY KEY,
    "values" BLOB NOT NULL
);
CREATE TABLE audio (
    frame        INTEGER PRIMARY KEY,
    first_sample INTEGER NOT NULL,
    samples      BLOB NOT NULL
);

-- Every cache after every frame.
CREATE TABLE cache_state (
    frame     INTEGER NOT NULL,
    cache     INTEGER NOT NULL,
    found     INTEGER,                -- offset that the frame's step found; NULL: no step
    offset    INTEGER,                -- offset that it left; NULL: the state has none
    capacity  INTEGER NOT NULL,       -- T
    nan_slots INTEGER NOT NULL,       -- slots with NaN in K or V; 0 with trace off
    PRIMARY KEY (frame, cache)
) WITHOUT ROWID;

-- Slots written during a frame and what they then held: [2, B, last - first, H, D]; an empty
-- blob if values were not recorded (trace off).
CREATE TABLE slot_delta (
    id     INTEGER PRIMARY KEY,
    frame  INTEGER NOT NULL,
    cache  INTEGER NOT NULL,
    first  INTEGER NOT NULL,
    last   INTEGER NOT NULL,
    worst  INTEGER NOT NULL,          -- of each of these slots: 0 finite, 1 some NaN, 2 some Inf
    "values" BLOB NOT NULL
);
CREATE INDEX slot_delta_by_cache ON slot_delta (cache, frame);

-- Every tensor of the streaming state; a row when anything about it changed.
CREATE TABLE tensor (
    id    INTEGER PRIMARY KEY,
    model TEXT NOT NULL,              -- flow_lm | mimi
    entry TEXT NOT NULL,              -- module name
    key   TEXT NOT NULL               -- cache, offset, pad, previous, first, partial, ...
);
CREATE TABLE tensor_state (
    tensor    INTEGER NOT NULL,
    frame     INTEGER NOT NULL,
    shape     TEXT NOT NULL,
    dtype     TEXT NOT NULL,
    device    TEXT NOT NULL,
    nan_count INTEGER NOT NULL,       -- elements; for a cache, slots
    value     TEXT NOT NULL,          -- the number itself for one-element tensors, else min..max
    storage   INTEGER NOT NULL,       -- counts up when the tensor was replaced by another
    PRIMARY KEY (tensor, frame)
) WITHOUT ROWID;

CREATE TABLE site (                   -- a source line of the model's code
    id       INTEGER PRIMARY KEY,
    file     TEXT NOT NULL,
    line     INTEGER NOT NULL,
    function TEXT NOT NULL
);
CREATE TABLE source (                 -- the text of the files that sites name
    file TEXT PRIMARY KEY,
    text TEXT NOT NULL
);
CREATE TABLE call (                   -- an op at a place in the model
    id      INTEGER PRIMARY KEY,
    op      TEXT NOT NULL,            -- such as aten.slice.Tensor
    site    INTEGER NOT NULL,
    module  TEXT NOT NULL             -- such as flow_lm.transformer.layers.0.self_attn
);
CREATE TABLE shapes (                 -- argument and result shapes and dtypes, in words
    id        INTEGER PRIMARY KEY,
    arguments TEXT NOT NULL,
    results   TEXT NOT NULL
);
CREATE TABLE thread (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE op (                     -- in the order in which they ran, within each frame
    id       INTEGER PRIMARY KEY,
    frame    INTEGER NOT NULL,
    part     INTEGER NOT NULL,        -- 0 voice, 1 expand, 2 flow_lm, 3 mimi
    call     INTEGER NOT NULL,
    shapes   INTEGER NOT NULL,
    thread   INTEGER NOT NULL,
    began_ns INTEGER NOT NULL,
    took_ns  INTEGER NOT NULL,
    nan_in   INTEGER,                 -- 0 finite, 1 NaN, 2 Inf; NULL: not looked at
    nan_out  INTEGER
);
CREATE INDEX op_by_frame ON op (frame);
CREATE TABLE touch (                  -- slots of a cache that an op read or wrote
    op    INTEGER NOT NULL,
    cache INTEGER NOT NULL,
    kv    INTEGER NOT NULL,           -- 0 K, 1 V, 2 both
    first INTEGER NOT NULL,
    last  INTEGER NOT NULL,
    write INTEGER NOT NULL            -- 0 read, 1 write
);
CREATE INDEX touch_by_op ON touch (op);
CREATE INDEX touch_by_cache ON touch (cache, first);

-- What an op did that no healthy run does, as the shadow memory saw it.
CREATE TABLE misuse (
    id         INTEGER PRIMARY KEY,
    frame      INTEGER NOT NULL,
    op         INTEGER NOT NULL,
    cache      INTEGER NOT NULL,
    kind       TEXT NOT NULL,         -- unwritten-read | stale-read | overwrite | dropped-write
    kv         INTEGER NOT NULL,
    first      INTEGER NOT NULL,
    last       INTEGER NOT NULL,
    head_first INTEGER NOT NULL,      -- heads [head_first, head_last)
    head_last  INTEGER NOT NULL,
    masked     INTEGER,               -- 1: no query attended to it; NULL: not an attention op
    fill       TEXT NOT NULL,         -- what it held: nan, zero, other
    writer     INTEGER                -- frame that wrote it before; NULL: nobody, or unknown
);
CREATE INDEX misuse_by_frame ON misuse (frame);

-- How an attention op looked at its cache. Query i belongs at slot `position` + i and should
-- attend to the slots up to it, as far back as the context.
CREATE TABLE attention (
    frame    INTEGER NOT NULL,
    op       INTEGER NOT NULL,
    cache    INTEGER NOT NULL,
    queries  INTEGER NOT NULL,
    keys     INTEGER NOT NULL,
    position INTEGER NOT NULL,        -- the offset that the step found
    slot     INTEGER,                 -- first slot that the step wrote in this cache; NULL: none
    rope     INTEGER,                 -- position that the rotary embedding was given; NULL: unseen
    oldest   INTEGER,                 -- oldest slot that the last query attended to; NULL: none
    newest   INTEGER,                 -- newest slot that the last query attended to
    attended INTEGER NOT NULL,        -- how many slots the last query attended to
    future   INTEGER NOT NULL,        -- pairs of query and key with the key later than the query
    outside  INTEGER NOT NULL,        -- pairs further apart than the context
    missing  INTEGER NOT NULL,        -- pairs that should have been attended to and were not
    PRIMARY KEY (op, cache)
) WITHOUT ROWID;
CREATE INDEX attention_by_frame ON attention (frame);

-- State that a step found otherwise than the one before had left it, or left otherwise than a
-- healthy one does: changed by somebody else, codec state that is not fresh or not carried on,
-- K and V that are not the layer's own.
CREATE TABLE surprise (
    frame INTEGER NOT NULL,           -- of the step that found it
    model TEXT NOT NULL,
    entry TEXT NOT NULL,
    key   TEXT NOT NULL,              -- cache, offset, previous, partial, ...
    found TEXT NOT NULL,              -- see `evidence.Found`
    first INTEGER,                    -- slots, for a cache
    last  INTEGER
);
CREATE INDEX surprise_by_frame ON surprise (frame);

-- What a chunk's prefix turned out to be, by holding it against the model's own weights.
CREATE TABLE prefix (
    chunk           INTEGER PRIMARY KEY,
    marker_wanted   INTEGER NOT NULL, -- 1: the model has a learned marker before the voice
    marker_slot     INTEGER,          -- slot whose K and V are the marker's; NULL: none is
    foreign_slots   INTEGER,          -- slots whose K and V these weights cannot have made
    voice_slots     INTEGER NOT NULL  -- slots in use when the chunk began
);

-- The vector that a decode step fed to FlowLM.
CREATE TABLE fed (
    frame INTEGER PRIMARY KEY,
    what  TEXT NOT NULL               -- marker (learned), latent (the last one), zero, nan, other
);

-- The findings after the last frame; `kvstudio check` works them out again from the rest.
CREATE TABLE finding (
    id       INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL,
    severity TEXT NOT NULL,           -- error | warning
    message  TEXT NOT NULL,
    frame    INTEGER,
    phase    TEXT,
    layer    TEXT,                    -- number of a FlowLM layer, or entry of a codec layer
    cache    INTEGER,                 -- its id
    caches   TEXT NOT NULL,           -- JSON: ids of all that show the same
    kv       TEXT,                    -- K | V | NULL: both
    first    INTEGER,                 -- slots
    last     INTEGER,
    op       TEXT,
    site     TEXT,                    -- file:line
    count    INTEGER NOT NULL,
    links    TEXT NOT NULL            -- JSON: the chain from the origin to what is heard
);

CREATE TABLE log (
    id     INTEGER PRIMARY KEY,
    at     REAL NOT NULL,             -- seconds since the epoch
    stream TEXT NOT NULL,
    text   TEXT NOT NULL
);
"""

PARTS = ("voice", "expand", "flow_lm", "mimi")
"""The words for `op.part`, by number."""
