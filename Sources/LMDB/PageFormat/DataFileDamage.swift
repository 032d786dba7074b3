/// Damage in a data file, which makes the file unsafe to open with LMDB.
package struct DataFileDamage: Error, Sendable, Equatable, CustomStringConvertible {
  /// The damaged page, or nil if the damage concerns the file as a whole.
  package let page: UInt64?
  /// A description of the damage.
  package let reason: String

  init(page: UInt64? = nil, _ reason: String) {
    self.page = page
    self.reason = reason
  }

  package var description: String { page.map { "page \($0) is damaged: \(reason)" } ?? reason }
}
