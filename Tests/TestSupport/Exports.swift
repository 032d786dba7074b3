// A test that imports the fixtures needs no second import for directories.
@_exported public import TestDirectories
