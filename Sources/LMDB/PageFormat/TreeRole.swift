/// The content of a tree of pages.
enum TreeRole {
  /// Transaction numbers, each with the pages that the transaction freed.
  case freeList
  /// The unnamed database, which also contains the names of the others.
  case main
  case named(KeyOrder)
  /// A database with items of each key.
  case index
  /// The items of one key. Its leaves contain items only, without nodes.
  case items

  var order: KeyOrder {
    switch self {
    case .freeList: .numbers
    case .main, .index: .bytes
    case .named(let order): order
    case .items: .items
    }
  }

  var leafKind: TreePage.Kind { if case .items = self { .items } else { .leaf } }

  /// The lowest number of children of a branch. LMDB allows a single child only in the free list.
  var fewestChildren: Int { if case .freeList = self { 1 } else { 2 } }
}
