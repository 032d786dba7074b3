/// How an environment is opened. Whoever opens it a second time in this process must say the same.
@usableFromInline
package struct EnvironmentOptions: Sendable, Equatable {
  /// What a commit waits for.
  package enum Durability: Sendable, Equatable {
    /// Everything is on disk: nothing committed is lost.
    case sync
    /// Everything but the last meta page: a power cut may undo the last transaction, and damages nothing.
    case noMetaSync
    /// Nothing: the death of the process loses nothing, and a power cut may damage everything.
    case noSync
  }

  /// The size of the map in bytes, which the file never exceeds. Address space only, until it is used. Rounded up to
  /// whole pages; a file that is larger already has its own size.
  package var mapSize: Int
  /// How many named databases can be opened. Every transaction pays for each that is.
  package var maximumDatabases: Int
  /// How many read transactions, of all processes, can be open at once; decided by whoever opens first.
  package var maximumReaders: Int
  /// Whether nothing is ever written; the directory and its file must exist.
  package var isReadOnly: Bool
  /// What a commit waits for.
  package var durability: Durability
  /// Whether the system reads ahead of what is asked for: good for a file that fits memory, bad for one that does not.
  package var readsAhead: Bool

  package init(
    mapSize: Int, maximumDatabases: Int = 16, maximumReaders: Int = 512, isReadOnly: Bool = false,
    durability: Durability = .noMetaSync, readsAhead: Bool = true
  ) {
    self.mapSize = mapSize
    self.maximumDatabases = maximumDatabases
    self.maximumReaders = maximumReaders
    self.isReadOnly = isReadOnly
    self.durability = durability
    self.readsAhead = readsAhead
  }
}
