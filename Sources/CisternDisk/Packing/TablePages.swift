/// The pages of the tables of a dense file, as LMDB counts them.
struct TablePages: Sendable, Equatable {
  /// The pages of the index, without those that only the items of one generation use.
  var index = 0
  /// The number of items of all generations.
  var itemCount = 0
  /// The pages of extents and of separate records, with the pages of their table.
  var values = 0
  /// The pages of all other tables.
  var others = 0
}
