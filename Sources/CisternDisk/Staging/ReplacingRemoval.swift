import CisternCore

/// A removal that is staged in place of a write.
struct ReplacingRemoval {
  let key: [UInt8]
  /// The record on disk that it may remove; nil for any.
  let condition: RecordCondition?
}
