"""fabric-compare: which network gives most work per dollar for a GPU cluster, and how sure is that?"""

__version__ = "0.1.0"
