/// A gate that keeps the writer thread from taking a part of a batch.
///
/// The writer thread takes no writes while a batch is open, and no batch opens while it takes writes. Both states
/// are short. A monitor guards the gate.
struct BatchGate: Sendable {
  private var openCount = 0
  private(set) var isTaking = false

  /// Opens a batch. Returns nil if the caller must wait because the writer thread takes writes.
  mutating func open() -> Void? {
    if isTaking { return nil }
    openCount += 1
    return ()
  }

  mutating func close() { openCount -= 1 }

  /// Starts to take writes. Returns nil while a batch is open, so that the caller must wait.
  ///
  /// No new batch opens after the first call, so the wait is bounded by the batches that are open.
  mutating func beginTaking() -> Void? {
    isTaking = true
    return openCount == 0 ? () : nil
  }

  mutating func endTaking() { isTaking = false }
}
