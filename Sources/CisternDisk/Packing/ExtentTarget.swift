import LMDB

/// A write transaction on a dense file.
protocol ExtentTarget: RecordIndex, ExtentValues, ExtentTables, GenerationRows, RenewalRows, ~Copyable, ~Escapable {}
