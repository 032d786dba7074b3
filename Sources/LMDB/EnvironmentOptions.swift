/// The options of an environment. All openings in a process must have the same options.
@usableFromInline
package struct EnvironmentOptions: Sendable, Equatable {
  /// The data that a commit waits for.
  package enum Durability: Sendable, Equatable {
    /// A commit waits for all pages. No commit is lost.
    case sync
    /// A commit waits for all pages except the meta page. A power failure may undo the last commit, but damages
    /// nothing.
    case noMetaSync
    /// A commit waits for nothing. A process crash loses nothing, but a power failure may damage the whole file.
    case noSync
  }

  /// The size of the map in bytes, which limits the size of the file. It is rounded up to whole pages.
  ///
  /// The map is address space only until it is used. A file that is already larger keeps its size.
  package var mapSize: Int
  /// The highest number of named databases. Each open database makes every transaction slower.
  package var maximumDatabases: Int
  /// The highest number of concurrent read transactions in all processes. The first process that opens the
  /// environment sets it.
  package var maximumReaders: Int
  /// Whether the environment never writes. The directory and its data file must exist.
  package var isReadOnly: Bool
  /// The data that a commit waits for.
  package var durability: Durability
  /// Whether the system reads ahead of requests. This is good if the file fits in memory, and bad otherwise.
  package var readsAhead = true

  package init(
    mapSize: Int, maximumDatabases: Int = 16, maximumReaders: Int = 512, isReadOnly: Bool = false,
    durability: Durability = .noMetaSync
  ) {
    self.mapSize = mapSize
    self.maximumDatabases = maximumDatabases
    self.maximumReaders = maximumReaders
    self.isReadOnly = isReadOnly
    self.durability = durability
  }
}
