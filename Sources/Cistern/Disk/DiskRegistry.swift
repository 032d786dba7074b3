#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The engines that are open in this process, one for each directory, by whatever path.
final class DiskRegistry: Sendable {
  static let shared = DiskRegistry()

  /// What tells a directory from every other.
  private struct Identity: Hashable, Sendable {
    let device: UInt64
    let node: UInt64
  }

  private enum Place: Sendable {
    /// Someone is opening it: wait.
    case opening
    /// Open, by so many owners.
    case open(DiskEngine, owners: Int)
    /// The last owner is gone, and the writer thread still at work: wait.
    case closing(DiskEngine)
  }

  private let places = Monitor<[Identity: Place]>([:])

  /// Opens the directory, or shares what is open.
  func open(
    directory: String, options: DiskOptions, owner: DiskOwner, report: @escaping @Sendable (StoreReport) -> Void
  ) throws(CisternError) -> DiskEngine {
    let limits = try DiskLimits(options.limit, location: directory)
    try DiskDirectory.prepare(directory, isReadOnly: options.isReadOnly)
    let identity = try identity(of: directory)
    let shared = places.wait { places -> DiskEngine?? in
      switch places[identity] {
      case .open(let engine, let owners) where !engine.isInherited:
        // Counted only where the options agree, which is asked below without the lock.
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
      guard engine.options.isSame(as: options) else {
        _ = release(engine, owner: owner)
        throw CisternError(
          .conflictingOpen, "this process has the store open with other settings; open it with the same",
          location: directory)
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

  /// Runs `body` while nobody in this process has the directory open or can open it; throws where somebody has.
  func withoutEngine<Result>(
    in directory: String, _ body: () throws(CisternError) -> Result
  ) throws(CisternError) -> Result {
    let identity = try identity(of: directory)
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

  /// Ends an opening; true where it was the last, and the writer thread was asked to end.
  @discardableResult
  func release(_ engine: DiskEngine, owner: DiskOwner) -> Bool {
    if engine.isInherited { return false }
    engine.removeReporter(for: owner.number)
    for partition in engine.partitions { partition.removeHandler(for: owner.number) }
    let isLast = places.change { places in
      for (identity, place) in places {
        guard case .open(engine, let owners) = place else { continue }
        places[identity] = owners == 1 ? .closing(engine) : .open(engine, owners: owners - 1)
        return owners == 1
      }
      return false
    }
    if isLast { engine.stop() }
    return isLast
  }

  /// The engine is closed.
  func forget(_ engine: DiskEngine) {
    places.change { places in
      places = places.filter { _, place in
        if case .closing(engine) = place { return false }
        return true
      }
    }
  }

  private func identity(of directory: String) throws(CisternError) -> Identity {
    var status = stat()
    guard unsafe stat(directory, &status) == 0 else {
      throw DiskDirectory.unusable(directory, SystemError(status: errno, operation: "look at \(directory)"))
    }
    return Identity(
      device: UInt64(truncatingIfNeeded: status.st_dev), node: UInt64(truncatingIfNeeded: status.st_ino))
  }
}

/// Matches the very engine, in patterns.
private func ~= (pattern: DiskEngine, value: DiskEngine) -> Bool { pattern === value }
