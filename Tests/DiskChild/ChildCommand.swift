/// The work of the process, which its first argument selects.
enum ChildCommand: String, CaseIterable {
  case write
  case batch
  case batchInStep = "batch-in-step"
  case batchAcross = "batch-across"
  case mixedInStep = "mixed-in-step"
  case invalidate
  case invalidateAll = "invalidate-all"
  case invalidateRepeatedly = "invalidate-repeatedly"
  case purge
  case purgeAll = "purge-all"
  case hold
  case replace
  case clear
  case open
  case backup
  case fork
  case exit
  case exitMain = "exit-main"
  case exitStores = "exit-stores"
  case exitWriter = "exit-writer"
  case exitCommitting = "exit-committing"
  case exitHung = "exit-hung"
  case exitFork = "exit-fork"
  case largestFile = "largest-file"
  case deviceSizes = "device-sizes"
  case device
  case openDevice = "open-device"
  case overwriteDevice = "overwrite-device"
  case script
  case scriptClosing = "script-closing"
  case resources
  case relative

  /// The description of the arguments. Some commands have further arguments, which their functions describe.
  static var usage: String {
    let commands = allCases.map(\.rawValue).joined(separator: "|")
    return "usage: DiskChild \(commands) DIRECTORY LIMIT powerCut|processCrash [ARGUMENT...] [layout=LAYOUT]"
  }

  /// Whether only the exit of the process commits the staged writes.
  var commitsAtExit: Bool { rawValue.hasPrefix("exit") }

  /// Whether the exit waits for a commit that takes long on a busy machine.
  var waitsLongAtExit: Bool {
    switch self {
    // Its disk never responds, so its exit has only the usual delay.
    case .exitHung: false
    case .script, .scriptClosing: true
    default: commitsAtExit
    }
  }
}
