import LMDB

extension WriteStep {
  /// Writes the change for every partition in the file that was not open.
  mutating func put(_ unopened: UnopenedChange, in transaction: inout WriteTransaction) throws(LMDBError) {
    let names = try transaction.knownPartitionNames(in: file.meta).subtracting(unopened.openNames)
    let removesAll = unopened.removesAll(ofPartitions: names.count)
    // A partition that the group has opened repeats its invalidations in another file itself, and knows only their
    // versions.
    let repeated = Dictionary(grouping: outcome.invalidations) { $0.partition.name }
    for name in names.sorted() {
      let partition = Partition(name: name)
      // The outcome retains the partition: the step identifies partitions by their addresses.
      outcome.unopened.append((partition, isCleared: removesAll))
      if removesAll {
        try removeAll(of: partition, in: &transaction)
        continue
      }
      let known = repeated[name, default: []].flatMap { $0.written.keys }
      let invalidations = unopened.change.invalidations.subtracting(known)
      guard !invalidations.isEmpty else { continue }
      // The local version is the lowest one, so that the rows get the next versions in file order.
      try put(
        Dictionary(uniqueKeysWithValues: invalidations.map { ($0, .zero) }), invalidationVersion: .zero, of: partition,
        in: &transaction)
    }
  }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// Returns the names of all partitions that the file knows, with or without records.
  ///
  /// - Complexity: O(*n*) for *n* rows of partitions, formats and versions.
  borrowing func knownPartitionNames(in database: Database) throws(LMDBError) -> Set<String> {
    var names: Set<String> = []
    for (prefix, size) in MetaTable.prefixesBeforeNames {
      names.formUnion(try self.names(in: database, under: prefix, at: size))
    }
    return names
  }

  /// Returns the names at a position of the keys with a prefix, in byte order. Damaged names are left out.
  borrowing func names(in database: Database, under prefix: [UInt8], at size: Int) throws(LMDBError) -> [String] {
    var names: [String] = []
    var cursor = try cursor(in: database)
    var isAtRow = try cursor.move(toFirstFrom: prefix.rawSpan)
    while isAtRow, let key = cursor.key?.copiedBytes(), key.starts(with: prefix) {
      if key.count >= size, let name = String(validating: key.dropFirst(size), as: UTF8.self) { names.append(name) }
      isAtRow = try cursor.moveToNext()
    }
    return names
  }
}

extension MetaTable {
  /// The first bytes of each kind of row whose key ends with the name of a partition, and the position of that name.
  fileprivate static var prefixesBeforeNames: [(prefix: [UInt8], size: Int)] {
    [
      (partition(""), partition("").count), (invalidationVersions(""), invalidationVersions("").count),
      (formatPrefix, 9),
    ]
  }
}
