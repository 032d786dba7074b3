import CisternCore
import Locking

/// The engines that are open in this process, one for each directory, regardless of the path.
///
/// An engine belongs to the path of its first opening. If the path leads to another directory, the engine moves there
/// with its next commit, and its entry here moves along.
final class DiskRegistry: Sendable {
  static let shared = DiskRegistry()

  let directories = Monitor(OpenDirectories())

  /// The result of the look for an engine of a directory.
  private enum Attempt: Sendable {
    case shared(DiskEngine)
    /// The calling thread opens the directory.
    case begun
    /// The engine is closing, and the calling thread must not wait for that.
    case closing
  }

  /// Opens the directory, or shares the engine that is open.
  ///
  /// - Returns: The engine, and whether this call has opened it.
  func open(
    directory: String, options: DiskOptions, owner: DiskOwner, report: @escaping @Sendable (StoreReport) -> Void
  ) throws(CisternError) -> (engine: DiskEngine, isFirst: Bool) {
    let directory = DiskDirectory.absolutePath(directory)
    let limits = try DiskLimits(options.limit, location: directory)
    let identity = try identity(of: directory, isReadOnly: options.isReadOnly)
    let arriving = bringIntoPlace(identity)
    switch attempt(at: identity, arriving: arriving) {
    case .shared(let engine):
      do throws(CisternError) {
        try checkIsShareable(engine, at: identity, arriving: arriving, options, location: directory)
      } catch {
        _ = release(engine, owner: owner)
        throw error
      }
      engine.addReporter(report, for: owner.number)
      return (engine, false)
    case .begun:
      let opening = DiskOpening(directory: directory, options: options, limits: limits)
      return (try begin(opening, at: identity, owner: owner, report: report), true)
    case .closing:
      throw closingError(directory, remedy: "Open the store on another thread")
    }
  }

  /// The error of a thread that must not wait until the store of a directory is closed.
  private func closingError(_ directory: String, remedy: String) -> CisternError {
    CisternError(
      .storeInUse,
      "the store of the directory is closing, and can wait for this thread, which runs a report handler or reads a file",
      location: directory, remedy: remedy)
  }

  /// Shares the engine of a directory, or begins to open the directory. Blocks the thread while another thread opens or
  /// closes it.
  private func attempt(at identity: DirectoryIdentity, arriving: [DiskEngine]) -> Attempt {
    let isAwaited = isCallerAwaited
    return directories.wait { directories -> Attempt? in
      switch directories.status(of: identity, arriving: arriving) {
      case .open(let engine):
        // Counts the owner before the options are compared, without the lock. A conflict releases it again.
        directories.addOwner(of: engine)
        return .shared(engine)
      case .opening: return nil
      case .closing: return isAwaited ? .closing : nil
      case .free:
        directories.beginOpening(identity)
        return .begun
      }
    }
  }

  /// Opens the directory, and delivers the reports of the opening at its end. A handler can then open the directory,
  /// too.
  private func begin(
    _ opening: DiskOpening, at identity: DirectoryIdentity, owner: DiskOwner,
    report: @escaping @Sendable (StoreReport) -> Void
  ) throws(CisternError) -> DiskEngine {
    var reports: [StoreReport] = []
    defer { for item in reports { report(item) } }
    do throws(CisternError) {
      try DiskDirectory.prepare(opening.directory, isReadOnly: opening.options.isReadOnly)
      let engine = try opening.open(reportingTo: report, for: owner, &reports)
      // The directory can have been replaced since it was examined.
      directories.change { $0.endOpening(identity, as: engine, in: engine.claim.directoryIdentity ?? identity) }
      return engine
    } catch {
      directories.change { $0.cancelOpening(identity) }
      throw error
    }
  }

  /// Returns the identity of the directory. Creates the directory if it is missing.
  private func identity(of directory: String, isReadOnly: Bool) throws(CisternError) -> DirectoryIdentity {
    // The opening finds other problems with an existing directory.
    if !directory.utf8.contains(0), let identity = DirectoryIdentity(ifPresent: directory) { return identity }
    try DiskDirectory.prepare(directory, isReadOnly: isReadOnly)
    return try DirectoryIdentity(of: directory)
  }

  private func checkIsShareable(
    _ engine: DiskEngine, at identity: DirectoryIdentity, arriving: [DiskEngine], _ options: DiskOptions,
    location: String
  ) throws(CisternError) {
    let differences = engine.settings.differences(in: options.settings)
    guard differences.isEmpty else { throw OpenSettings.conflict("the store", differences, location: location) }
    guard engine.isLeaving(identity), !arriving.contains(where: { $0 === engine }) else { return }
    throw CisternError(
      .storeInUse,
      "a store of this process has the directory open under its former path \(engine.directory), and cannot release it while the disk "
        + "fails, or while this thread runs a report handler or reads a file",
      location: location, remedy: "Close that store")
  }

  /// Runs `body` while no thread of this process has the directory open or can open it.
  ///
  /// Throws if the directory is open, or if it is closing and can wait for the calling thread.
  func withoutEngine<Result>(
    in directory: String, _ body: () throws(CisternError) -> Result
  ) throws(CisternError) -> Result {
    let identity = try DirectoryIdentity(of: directory)
    let arriving = bringIntoPlace(identity)
    let isAwaited = isCallerAwaited
    let status = directories.wait { directories -> OpenDirectories.Status? in
      let status = directories.status(of: identity, arriving: arriving)
      switch status {
      case .opening: return nil
      case .closing: return isAwaited ? status : nil
      case .open: return status
      case .free:
        directories.beginOpening(identity)
        return status
      }
    }
    switch status {
    case .free: break
    case .closing: throw closingError(directory, remedy: "Compact the store on another thread")
    case .opening, .open:
      throw CisternError(.storeInUse, "this process has the store open; close it first", location: directory)
    }
    defer { directories.change { $0.cancelOpening(identity) } }
    return try body()
  }

  /// Ends an owner's opening. Returns true if it was the last one and the engine stops.
  @discardableResult
  func release(_ engine: DiskEngine, owner: DiskOwner) -> Bool {
    if engine.isInherited { return false }
    for partition in engine.partitions { partition.removeHandler(for: owner.number) }
    let isLast = directories.change { $0.removeOwner(of: engine) }
    // The last owner still receives the reports of the closing.
    if isLast { engine.stop() } else { engine.removeReporter(for: owner.number) }
    return isLast
  }

  /// Returns the engines that are open or closing. Returns none if the lock is not free before the deadline.
  ///
  /// - Parameter deadline: The deadline in nanoseconds of the monotonic clock.
  /// - Returns: The engines.
  func engines(until deadline: UInt64) -> [DiskEngine] {
    directories.change(until: deadline) { $0.engines } ?? []
  }

  /// Removes an engine that is closed.
  func forget(_ engine: DiskEngine) {
    directories.change { $0.remove(engine) }
  }
}
