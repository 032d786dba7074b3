/// Where a data file is not as LMDB would have left it, so that LMDB may not be let near it.
package struct DataFileDamage: Error, Sendable, Equatable, CustomStringConvertible {
  /// The page that is not as it should be; nil where it is the file as a whole.
  package let page: UInt64?
  /// What is wrong, in words.
  package let reason: String

  init(page: UInt64? = nil, _ reason: String) {
    self.page = page
    self.reason = reason
  }

  package var description: String { page.map { "its page \($0) is damaged: \(reason)" } ?? reason }
}
