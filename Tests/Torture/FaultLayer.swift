import Glibc

/// The calls that fail, and how they fail. Requires the preloaded library of `faults.c`.
struct Fault: Sendable, CustomStringConvertible {
  enum Kind: Int32, CaseIterable, Sendable {
    case write = 1
    case synchronize = 2
    case cut = 4
    case open = 8
    case map = 16
  }

  var kinds: [Kind]
  /// The error number, or zero for a write that writes half of its bytes.
  var error: Int32
  /// The number of calls that succeed before the first failure.
  var skip: Int
  var times: Int

  /// Draws a fault with an error that such a call can return.
  init(_ random: inout Mixer) {
    // Writes are drawn twice as often. Opening, mapping and truncation mostly occur during the opening of a store.
    let kind = (Kind.allCases + [.write, .synchronize])[random.next(below: Kind.allCases.count + 2)]
    // A broken device fails in several ways.
    kinds = random.next(below: 4) == 0 ? Kind.allCases : [kind]
    let errors: [Int32] =
      switch kind {
      case .write: [ENOSPC, ENOSPC, EDQUOT, EIO, 0]
      case .synchronize: [EIO, ENOSPC]
      case .cut: [ENOSPC, EIO]
      case .open: [EMFILE, ENFILE, EACCES, EROFS, EIO, ENOSPC]
      case .map: [ENOMEM, EIO]
      }
    error = kinds.count > 1 ? [ENOSPC, EIO][random.next(below: 2)] : errors[random.next(below: errors.count)]
    skip = random.next(below: [1, 4, 30][random.next(below: 3)])
    times = [1, 2, 5, Int(Int32.max)][random.next(below: 4)]
  }

  var description: String {
    let name = error == 0 ? "half" : unsafe String(cString: strerror(error))
    return
      "\(kinds.map { "\($0)" }.joined(separator: "+")): \(name), after \(skip), \(times == Int(Int32.max) ? "for good" : "\(times) times")"
  }

  /// A name for tallies.
  var name: String {
    "\(kinds.count > 1 ? "all" : "\(kinds[0])") \(error == 0 ? "half" : unsafe String(cString: strerror(error)))"
  }

  func begin() { FaultLayer.set(kinds.reduce(0) { $0 | $1.rawValue }, error, skip, times) }
  static func end() { FaultLayer.set(0, 0, 0, 0) }
  static var hits: Int { FaultLayer.hits() }
}

/// The preloaded library.
private enum FaultLayer {
  private typealias Set = @convention(c) (Int32, Int32, Int, Int) -> Void
  private typealias Hits = @convention(c) () -> Int

  static func set(_ kinds: Int32, _ error: Int32, _ skip: Int, _ times: Int) {
    // The functions of faults.c, with the types of their definitions.
    unsafe unsafeBitCast(symbol("cistern_fault"), to: Set.self)(kinds, error, skip, times)
  }

  static func hits() -> Int {
    // The functions of faults.c, with the types of their definitions.
    unsafe unsafeBitCast(symbol("cistern_fault_hits"), to: Hits.self)()
  }

  private static func symbol(_ name: String) -> UnsafeMutableRawPointer {
    guard let address = unsafe dlsym(nil, name) else { fatalError("faults.so is not preloaded: \(name)") }
    return unsafe address
  }
}
