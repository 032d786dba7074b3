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

  /// The pages of one list of free pages.
  package struct FreeList: Sendable, Equatable {
    /// The number of the transaction that freed the pages, as far as LMDB knows. It joins lists of several
    /// transactions.
    package let transaction: UInt64
    package let pages: [Int]

    package init(transaction: UInt64, pages: [Int]) {
      self.transaction = transaction
      self.pages = pages
    }
  }

  /// The last page that is in use or free. The file has no pages after it yet.
  package let lastPage: Int
  /// The lists of free pages, in the order in which LMDB reads them.
  package private(set) var freeLists: [FreeList] = []
  /// The number of free pages.
  package private(set) var freeCount = 0
  package internal(set) var items: [ItemPage] = []

  package init(lastPage: Int, freeLists: [FreeList] = []) {
    self.lastPage = lastPage
    for list in freeLists { add(list) }
  }

  /// All free pages.
  package var free: [Int] { freeLists.flatMap(\.pages) }

  mutating func add(_ list: FreeList) {
    freeLists.append(list)
    freeCount += list.pages.count
  }
}
