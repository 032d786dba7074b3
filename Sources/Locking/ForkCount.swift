public import CSupport

/// The number of forks between the program's first process and this one.
///
/// In the child of a fork, a lock can stay locked forever, because the thread that holds it does not exist there. Check
/// the count before taking a lock. Reading it is a single load, which is faster than a system call for the process
/// identifier.
@usableFromInline
package enum ForkCount {
  @inlinable
  @inline(__always)
  package static var current: UInt { cistern_fork_count() }
}
