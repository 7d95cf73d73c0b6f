"""Why a passage matched: the score taken apart."""
