/// The number of records of a generation, and the bytes of these records and their keys.
package struct GenerationCounts: Sendable, Equatable {
  var records = 0
  var bytes = 0

  init() {}

  package init?(_ value: RawSpan) {
    guard value.byteCount == 16 else { return nil }
    records = Int(truncatingIfNeeded: value.integer(at: 0, as: Int64.self))
    bytes = Int(truncatingIfNeeded: value.integer(at: 8, as: Int64.self))
  }

  package var value: [UInt8] {
    MetaTable.value(UInt64(bitPattern: Int64(records))) + MetaTable.value(UInt64(bitPattern: Int64(bytes)))
  }
}
