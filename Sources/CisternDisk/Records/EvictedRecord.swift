/// A record that was evicted to make room for others.
struct EvictedRecord: Sendable {
  let generation: Generation
  let key: [UInt8]
  let tags: [String]
  let schemaVersion: UInt32
  /// The position in the commit order before which the items were put when the record was evicted.
  let position: Int
}
