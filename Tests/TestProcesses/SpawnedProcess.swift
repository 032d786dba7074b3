import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A process of another program. It inherits no descriptors but the given ones.
///
/// Foundation's `Process` copies the entries of the list of open descriptors with a fixed size. If the list fills its
/// buffer, it reads behind the buffer. The tests run side by side, and have more than 1,300 open descriptors then.
package final class SpawnedProcess {
  private let identifier: pid_t
  /// The status that `waitpid` returned, or nil before the end of the process was noticed.
  private var status: Int32?

  /// Starts a program with the environment of this process.
  ///
  /// - Parameters:
  ///   - program: The path of the program.
  ///   - arguments: The arguments after the name of the program.
  ///   - descriptors: The descriptors of the standard input, output and error. Nil stands for that of this process.
  /// - Throws: `SpawnFailure` if the program cannot be started.
  package init(_ program: String, _ arguments: [String], descriptors: (Int32?, Int32?, Int32?) = (nil, nil, nil)) throws
  {
    #if canImport(Darwin)
      var (actions, attributes) = unsafe (posix_spawn_file_actions_t?.none, posix_spawnattr_t?.none)
    #else
      var (actions, attributes) = unsafe (posix_spawn_file_actions_t(), posix_spawnattr_t())
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (target, source) in zip(Int32(0)..., [descriptors.0, descriptors.1, descriptors.2]) {
      if let source { unsafe posix_spawn_file_actions_adddup2(&actions, source, target) }
    }
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The threads of a pool block most signals.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    var flags = Int32(POSIX_SPAWN_SETSIGMASK)
    #if canImport(Darwin)
      flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
      for target: Int32 in 0..<3 { unsafe posix_spawn_file_actions_addinherit_np(&actions, target) }
    #else
      unsafe closeDescriptors(from: 3, &actions)
    #endif
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    var identifier: pid_t = 0
    let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
    let error = unsafe withCStrings([program] + arguments) { arguments in
      unsafe withCStrings(environment) { environment in
        unsafe posix_spawn(&identifier, program, &actions, &attributes, arguments, environment)
      }
    }
    if error != 0 { throw SpawnFailure(program: program, error: error) }
    self.identifier = identifier
  }

  /// Waits until the process ends, and returns its exit status; -1 if a signal has ended it.
  package func waitForEnd() -> Int32 {
    if status == nil { _ = wait(options: 0) }
    guard let status, status & 0x7F == 0 else { return -1 }
    return status >> 8 & 0xFF
  }

  /// Whether the process has ended.
  package var hasEnded: Bool { status != nil || wait(options: WNOHANG) }

  /// Ends the process at once.
  package func kill() {
    if status == nil, !wait(options: WNOHANG) { _ = sendSignal(identifier, SIGKILL) }
  }

  /// Returns whether the process has ended.
  private func wait(options: Int32) -> Bool {
    var status: Int32 = 0
    while true {
      let waited = unsafe waitpid(identifier, &status, options)
      if waited == identifier {
        self.status = status
        return true
      }
      if waited == 0 || errno != EINTR { return false }
    }
  }
}

/// A program that could not be started.
package struct SpawnFailure: Error, CustomStringConvertible {
  let program: String
  let error: Int32

  package var description: String { unsafe "\(program) could not be started: \(String(cString: strerror(error)))" }
}

#if canImport(Glibc)
  /// Adds the closing of all descriptors from a number on. Swift does not import the function of the C library.
  private func closeDescriptors(from first: Int32, _ actions: inout posix_spawn_file_actions_t) {
    typealias Addition = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
    guard let symbol = unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
      preconditionFailure("the C library cannot close the descriptors of a new process; version 2.34 of glibc can")
    }
    // The function has this type since its first version.
    _ = unsafe unsafeBitCast(symbol, to: Addition.self)(&actions, first)
  }
#endif

private func sendSignal(_ process: pid_t, _ signal: Int32) -> Int32 { kill(process, signal) }

/// Calls `body` with an array of C strings that ends with nil. The array is valid during the call.
private func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
  defer { unsafe pointers.forEach { unsafe free($0) } }
  return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
}
