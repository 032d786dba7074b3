import Locking

/// The directories that are open in this process, each with its engine. The registry's monitor guards it.
struct OpenDirectories: Sendable {
  private struct Entry: Sendable {
    let engine: DiskEngine
    /// The directory with the engine's files. Nil from the end of one directory until the engine has another.
    var directory: DirectoryIdentity?
    /// The number of owners. It is zero while the writer thread ends.
    var owners = 1
  }

  /// The state of a directory in this process.
  enum Status {
    case free
    case open(DiskEngine)
    /// A thread opens the directory. Other threads wait.
    case opening
    /// The last owner has closed the directory, and its files are still open. Other threads wait for the writer thread.
    case closing
  }

  private var entries: [Entry] = []
  /// The directories that a thread opens, each with the fork count of its process. The child of a fork must not wait
  /// for a thread of its parent.
  private var opening: [DirectoryIdentity: UInt] = [:]

  /// The engines that are open or closing.
  var engines: [DiskEngine] { entries.map(\.engine) }

  /// The engines of this process that are open or closing, each with its directory.
  var engineDirectories: [(engine: DiskEngine, directory: DirectoryIdentity?)] {
    entries.compactMap { $0.engine.isInherited ? nil : ($0.engine, $0.directory) }
  }

  /// Returns the state of a directory.
  ///
  /// - Parameters:
  ///   - identity: The directory.
  ///   - arriving: The engines whose path leads to the directory. If no other engine has it, one of them counts as its
  ///     engine.
  /// - Returns: The state.
  func status(of identity: DirectoryIdentity, arriving: [DiskEngine]) -> Status {
    if opening[identity] == ForkCount.current { return .opening }
    let own = entries.filter { !$0.engine.isInherited }
    let entry =
      own.first { $0.directory == identity } ?? own.first { entry in arriving.contains { $0 === entry.engine } }
    guard let entry else { return .free }
    return entry.owners == 0 ? .closing : .open(entry.engine)
  }

  // MARK: Opening and closing

  mutating func beginOpening(_ identity: DirectoryIdentity) {
    // An inherited engine has no thread in this process.
    entries.removeAll { $0.directory == identity && $0.engine.isInherited }
    opening[identity] = ForkCount.current
  }

  mutating func cancelOpening(_ identity: DirectoryIdentity) { opening[identity] = nil }

  mutating func endOpening(_ identity: DirectoryIdentity, as engine: DiskEngine, in directory: DirectoryIdentity) {
    opening[identity] = nil
    entries.append(Entry(engine: engine, directory: directory))
  }

  mutating func addOwner(of engine: DiskEngine) { change(engine) { $0.owners += 1 } }

  /// Returns whether the owner was the last one.
  mutating func removeOwner(of engine: DiskEngine) -> Bool {
    change(engine) { entry in
      guard entry.owners > 0 else { return false }
      entry.owners -= 1
      return entry.owners == 0
    } ?? false
  }

  mutating func remove(_ engine: DiskEngine) { entries.removeAll { $0.engine === engine } }

  // MARK: Moving

  /// Notes that the engine has no files in its directory any more.
  mutating func leave(_ engine: DiskEngine) { change(engine) { $0.directory = nil } }

  /// Whether the engine has left its directory, and has no other one yet.
  func isBetweenDirectories(_ engine: DiskEngine) -> Bool {
    entries.contains { $0.engine === engine && $0.directory == nil }
  }

  /// Gives a directory to the engine. Returns false if another engine has it, or a thread opens it.
  mutating func enter(_ identity: DirectoryIdentity, _ engine: DiskEngine) -> Bool {
    let isTaken = entries.contains {
      $0.directory == identity && $0.engine !== engine && !$0.engine.isInherited
    }
    if isTaken || opening[identity] == ForkCount.current { return false }
    change(engine) { $0.directory = identity }
    return true
  }

  @discardableResult
  private mutating func change<Result>(_ engine: DiskEngine, _ body: (inout Entry) -> Result) -> Result? {
    guard let index = entries.firstIndex(where: { $0.engine === engine }) else { return nil }
    return body(&entries[index])
  }
}
