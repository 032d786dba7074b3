/// The free pages of a data file, and the pages that only items of an index use, as of a commit.
///
/// Other pages have values of more than half a page, or belong to trees.
package struct PageUses: Sendable {
  /// A page of the tree with the items of one key.
  package struct ItemPage: Sendable, Equatable {
    package let page: Int
    package let key: IndexKey
    /// A digest that leads to the page: no item below it has a lesser one.
    package let digest: UInt64

    package init(page: Int, key: IndexKey, digest: UInt64) {
      self.page = page
      self.key = key
      self.digest = digest
    }
  }

  /// The last page that is in use or free. The file has no pages after it yet.
  package let lastPage: Int
  package internal(set) var free: [Int] = []
  package internal(set) var items: [ItemPage] = []

  package init(lastPage: Int, free: [Int] = [], items: [ItemPage] = []) {
    self.lastPage = lastPage
    self.free = free
    self.items = items
  }
}
