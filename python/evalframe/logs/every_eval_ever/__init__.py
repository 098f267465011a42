"""Every Eval Ever 0.3: published samples as items, and items as files to publish."""
