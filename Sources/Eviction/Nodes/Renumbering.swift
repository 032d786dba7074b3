/// The new slot numbers of a rebuilt table, by the old ones.
@safe
@usableFromInline
package struct Renumbering: ~Copyable {
  // One element for each old slot. Owned by this value.
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

  /// The new number of a slot. The number `none` stays the same.
  @inlinable
  package subscript(old: SlotNumber) -> SlotNumber {
    guard old != .none else { return .none }
    precondition(old.index < count)
    return unsafe numbers[old.index]
  }
}
