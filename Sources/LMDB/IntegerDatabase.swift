/// A database with unsigned integer keys, in numeric order.
@usableFromInline
package struct IntegerDatabase: DatabaseHandle, Hashable {
  @usableFromInline
  package let index: UInt32

  @usableFromInline
  init(index: UInt32) {
    self.index = index
  }
}
