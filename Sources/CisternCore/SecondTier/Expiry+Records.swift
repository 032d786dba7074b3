extension Expiry {
  /// Returns the metadata of a record that is written now.
  @usableFromInline
  package func metadata(created: WallTime, cost: UInt32, tags: [String] = []) -> RecordMetadata {
    var metadata = RecordMetadata(created: created, expires: wallExpiry(from: created), cost: cost, tags: tags)
    if metadata.expires != nil {
      metadata.grace = grace
      metadata.windows = windows
    }
    metadata.refreshAhead = refreshSpan
    metadata.idle = idle
    return metadata
  }
}
