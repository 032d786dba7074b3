/// The tags of the values before and after a change. Observers of tags are found by them.
@usableFromInline
package struct ChangeTags: Sendable {
  /// The tags of the value before the change; nil if they are not known. Memory did not hold the value, or the key had
  /// none.
  @usableFromInline let former: [String]?
  /// The tags of the value after the change.
  @usableFromInline let new: [String]

  @inlinable
  package init(former: [String]?, new: [String] = []) {
    self.former = former
    self.new = new
  }

  /// The tags of a change of many keys.
  @usableFromInline
  package static var none: ChangeTags { ChangeTags(former: []) }
  /// The tags of a change that ends a value outside memory.
  @usableFromInline
  package static var unknown: ChangeTags { ChangeTags(former: nil) }

  var all: [String] { (former ?? []) + new }
}
