"""The compiled kernels: who calls whom.

Nobody outside the library imports them (``CancelFlag`` is public as `excise.CancelFlag`), and most
of them are for other kernels alone: only those with a stub (``.pyi``) are called from Python. They
take and return flat arrays of ints, run without the GIL and poll a flag.

===================  ================================  ==========================================
kernel               what it does                      who calls it
===================  ================================  ==========================================
``_walk``            the flag that stops work, buffers every kernel that can run long; the flag is
                                                       handed down from the façade
``_lcs``             alignment by three engines, and   alignment, reparse, replay, patches,
                     by lines and tokens               ROUGE, _hunks
``_places``          slides runs; shared places        alignment, replay, patches, _counts
``_merges``          the lines that a merge changes    replay
``_ngrams``          the trie that counts n-grams      _counts
``_formula``         equation 3 in floats              _counts, _search
``_counts``          regions, counts, rows of pairs,   alignment, regions, excision, pairs,
                     all pairs in all hunks            hunk_pairs, patches
``_bytes``           classes of bytes                  _lexer, _tree, _hunks
``_lexer``           lexical tokens, line by line;     alignment, preparation, tokens, _hunks
                     ints for byte strings
``_tree``            the walk of a syntax tree, the    syntax, reparse
                     tokens of a text, and what two
                     trees and texts share
``_names``           the names in a syntax tree        bindings
``_diff``            the lines of a hunk, counted      patches
``_hunks``           hunks of patches as ints          patches
``_scanner``         guards the scanners of grammars   syntax
``_tables``          hash tables, arrays that grow,    the kernels of patches, _lexer, _tree,
                     multisets of features             _lcs, _counts
``_sites``           where blocks of patches are       _patches, _matches, _search
``_patches``         the features of all patches       patches, _matches, _search
``_matches``         what two patches have in common   patches, _search
``_search``          pairs that can score enough       patches
===================  ================================  ==========================================
"""
