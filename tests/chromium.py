"""The Chromium of this machine, which tests of pages drive."""

import shutil

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
"""Its path; None where there is none."""
