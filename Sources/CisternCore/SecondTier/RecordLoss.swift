/// A record loss: a record that left the tier without a removal by the user.
public struct RecordLoss: Sendable {
  /// The reason for a record loss.
  public enum Cause: Sendable {
    /// The tier evicted the record to make room for others.
    case evicted
    /// The record was damaged, and the tier removed it.
    case damaged
    /// The record was staged, and could not be written.
    case notWritten
  }

  /// The bytes of the key.
  public let key: [UInt8]
  /// The reason for the loss.
  public let cause: Cause
  /// The schema version of the record that left. Observers are not notified of a newer version's record.
  public let schemaVersion: UInt32

  /// Creates a record loss. A second tier of your own creates these too.
  ///
  /// - Parameters:
  ///   - key: The bytes of the key.
  ///   - cause: The reason for the loss.
  ///   - schemaVersion: The schema version of the record (``RecordMetadata/schemaVersion``).
  public init(key: [UInt8], cause: Cause, schemaVersion: UInt32 = 0) {
    self.key = key
    self.cause = cause
    self.schemaVersion = schemaVersion
  }
}
