import CisternCore

extension RecordMetadata {
  /// Metadata in which every field has a value of its own.
  package static var complete: RecordMetadata {
    RecordMetadata(
      created: WallTime(nanosecondsSince1970: 5), expires: WallTime(nanosecondsSince1970: 50), cost: 3,
      schemaVersion: 9, tags: ["a", "b"]
    ).with {
      $0.grace = 7
      $0.idle = 8
      $0.lastUsed = WallTime(nanosecondsSince1970: 6)
      $0.refreshAhead = 2
      $0.invalidationVersion = 1
      $0.isNegative = true
    }
  }

  /// Returns the metadata with other values of some properties.
  package func with(_ change: (inout RecordMetadata) -> Void) -> RecordMetadata {
    var metadata = self
    change(&metadata)
    return metadata
  }
}
