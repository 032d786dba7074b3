import CisternCore
import Locking

/// The engines that are open in this process, one for each directory, regardless of the path.
final class DiskRegistry: Sendable {
  static let shared = DiskRegistry()

  private enum Place: Sendable {
    /// A thread opens the directory. Other threads wait.
    case opening
    /// The directory is open, with this number of owners.
    case open(DiskEngine, owners: Int)
    /// The last owner has closed, and the writer thread has not ended. Other threads wait.
    case closing(DiskEngine)

    var engine: DiskEngine? {
      switch self {
      case .opening: nil
      case .open(let engine, _), .closing(let engine): engine
      }
    }
  }

  private let places = Monitor<[DirectoryIdentity: Place]>([:])

  /// Opens the directory, or shares the engine that is open.
  func open(
    directory: String, options: DiskOptions, owner: DiskOwner, report: @escaping @Sendable (StoreReport) -> Void
  ) throws(CisternError) -> DiskEngine {
    let directory = DiskDirectory.absolutePath(directory)
    let limits = try DiskLimits(options.limit, location: directory)
    try DiskDirectory.prepare(directory, isReadOnly: options.isReadOnly)
    let identity = try DirectoryIdentity(of: directory)
    let shared = places.wait { places -> DiskEngine?? in
      switch places[identity] {
      case .open(let engine, let owners) where !engine.isInherited:
        // Counts the owner before the options are compared, without the lock, below. A conflict releases it again.
        places[identity] = .open(engine, owners: owners + 1)
        return .some(engine)
      case .closing(let engine) where !engine.isInherited: return nil
      case .opening: return nil
      case nil, .open, .closing:
        places[identity] = .opening
        return .some(nil)
      }
    }
    if let engine = shared {
      let differences = engine.settings.differences(in: options.settings)
      guard differences.isEmpty else {
        _ = release(engine, owner: owner)
        throw OpenSettings.conflict("the store", differences, location: directory)
      }
      engine.addReporter(report, for: owner.number)
      return engine
    }
    do throws(CisternError) {
      let engine = try DiskOpening(directory: directory, options: options, limits: limits).open(
        reportingTo: report, for: owner)
      places.change { $0[identity] = .open(engine, owners: 1) }
      return engine
    } catch {
      places.change { $0[identity] = nil }
      throw error
    }
  }

  /// Runs `body` while no thread of this process has the directory open or can open it.
  ///
  /// Throws if the directory is open.
  func withoutEngine<Result>(
    in directory: String, _ body: () throws(CisternError) -> Result
  ) throws(CisternError) -> Result {
    let identity = try DirectoryIdentity(of: directory)
    let isFree = places.wait { places -> Bool? in
      switch places[identity] {
      case .opening, .closing: return nil
      case .open: return false
      case nil:
        places[identity] = .opening
        return true
      }
    }
    guard isFree else {
      throw CisternError(.storeInUse, "this process has the store open; close it first", location: directory)
    }
    defer { places.change { $0[identity] = nil } }
    return try body()
  }

  /// Ends an owner's opening. Returns true if it was the last one and the engine stops.
  @discardableResult
  func release(_ engine: DiskEngine, owner: DiskOwner) -> Bool {
    if engine.isInherited { return false }
    for partition in engine.partitions { partition.removeHandler(for: owner.number) }
    let isLast = places.change { places in
      for (identity, place) in places {
        guard case .open(engine, let owners) = place else { continue }
        places[identity] = owners == 1 ? .closing(engine) : .open(engine, owners: owners - 1)
        return owners == 1
      }
      return false
    }
    // The last owner still receives the reports of the closing.
    if isLast { engine.stop() } else { engine.removeReporter(for: owner.number) }
    return isLast
  }

  /// Registers the engine for the directory that replaced its own, so that further openings there share it.
  func follow(_ engine: DiskEngine) {
    // A directory that cannot be examined keeps its old identity here. Further openings of it then do not share the engine.
    guard let identity = try? DirectoryIdentity(of: engine.directory) else { return }
    places.change { places in
      guard places[identity] == nil, let known = places.first(where: { $0.value.engine === engine }) else { return }
      places[known.key] = nil
      places[identity] = known.value
    }
  }

  /// Returns the engines that are open or closing. Returns none if the lock is not free before the deadline.
  ///
  /// - Parameter deadline: The deadline in nanoseconds of the monotonic clock.
  /// - Returns: The engines.
  func engines(until deadline: UInt64) -> [DiskEngine] {
    places.change(until: deadline) { $0.values.compactMap(\.engine) } ?? []
  }

  /// Removes an engine that is closed.
  func forget(_ engine: DiskEngine) {
    places.change { places in
      places = places.filter { _, place in
        if case .closing(engine) = place { return false }
        return true
      }
    }
  }
}

/// Matches the identical engine in patterns.
private func ~= (pattern: DiskEngine, value: DiskEngine) -> Bool { pattern === value }
