/// The location of a record in a file.
enum RecordLocation {
  /// The record is the value under a key.
  case key(DiskKey)
  /// The record is in a dense file.
  case address(RecordAddress)
}
