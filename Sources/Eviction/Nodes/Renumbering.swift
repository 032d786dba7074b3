/// The numbers that slots have after their table was rebuilt, by those that they had.
@safe
@usableFromInline
package struct Renumbering: ~Copyable {
  // One for each old slot; owned.
  @usableFromInline let numbers: UnsafeMutablePointer<SlotNumber>
  @usableFromInline let count: Int

  @inlinable
  package init(count: Int) {
    unsafe numbers = .allocate(capacity: count)
    unsafe numbers.initialize(repeating: .none, count: count)
    self.count = count
  }

  @inlinable
  deinit {
    unsafe numbers.deallocate()
  }

  @inlinable
  package func set(_ old: SlotNumber, to new: SlotNumber) {
    precondition(old.index < count)
    unsafe numbers[old.index] = new
  }

  /// The new number of an entry; none for none.
  @inlinable
  package subscript(old: SlotNumber) -> SlotNumber {
    guard old != .none else { return .none }
    precondition(old.index < count)
    return unsafe numbers[old.index]
  }
}
