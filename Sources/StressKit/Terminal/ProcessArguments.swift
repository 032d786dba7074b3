#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The arguments of the process.
package enum ProcessArguments {
  /// The bytes of each argument, without the name of the program.
  ///
  /// `CommandLine.arguments` replaces bytes that are not UTF-8, so that different arguments become equal.
  package static var bytes: [[UInt8]] {
    (0..<Int(CommandLine.argc)).dropFirst().map { index in
      // The system gives the process `argc` terminated strings. They stay unchanged, because nothing writes to them.
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { return [] }
      return unsafe Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
    }
  }
}
