import LMDB

/// A defect that a reader found, for the writer thread to examine.
enum ReportedDefect: Sendable {
  /// A record that failed its checksum.
  case record(Partition, [UInt8])
  /// An error of the file in this environment. It no longer matters if the engine has another file.
  case file(LMDBError, Environment)

  /// Whether it is a record that failed its checksum.
  var isRecord: Bool { if case .record = self { true } else { false } }
}
