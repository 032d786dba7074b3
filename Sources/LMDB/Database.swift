/// A database with keys of 1 to 511 bytes, in bytewise order.
@usableFromInline
package struct Database: DatabaseHandle, Hashable {
  @usableFromInline
  package let index: UInt32

  @usableFromInline
  init(index: UInt32) {
    self.index = index
  }
}
