/// A reader slot that is in use.
package struct ReaderSlot: Sendable, Equatable {
  /// The ID of the process that uses the slot.
  package let process: Int32
  /// The commit whose pages the slot protects from reuse, or nil if its transaction is idle.
  package let transaction: UInt?
}
