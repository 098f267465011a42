"""Files of the original program: predictions and scores, read into tables and written from them.

A prediction file has a JSON object on each line, for one response; a score file is one object. Both
carry the settings of their run in their names.
"""

from evalframe.rag.files.instances import read_rgb_instances
from evalframe.rag.files.reading import read_rgb
from evalframe.rag.files.scores import read_rgb_scores, score_object
from evalframe.rag.files.writing import write_rgb

__all__ = ["read_rgb", "read_rgb_instances", "read_rgb_scores", "score_object", "write_rgb"]
