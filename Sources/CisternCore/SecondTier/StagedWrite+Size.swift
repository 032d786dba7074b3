extension StagedWrite {
  /// Its bytes in memory, roughly.
  @inlinable
  package var stagedSize: Int {
    switch self {
    case .record(let key, let metadata, let bytes):
      key.count + bytes.count + metadata.tags.reduce(160) { $0 + $1.utf8.count + 16 }
    case .removal(let key): key.count + 96
    }
  }
}
