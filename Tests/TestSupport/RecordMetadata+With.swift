import CisternCore

extension RecordMetadata {
  /// Returns the metadata with other values of some properties.
  package func with(_ change: (inout RecordMetadata) -> Void) -> RecordMetadata {
    var metadata = self
    change(&metadata)
    return metadata
  }
}
