# An interpreter of Ruby that stays in its sandbox and forks for each program, as fork-server.py does for Python. Ruby loads
# this file before the program that its command line names, which is a draft: after the fork, the program's own file takes its
# place, and its name that of the draft's, in the memory of the interpreter. So the program starts as if it had been named.
# Nothing of the library is loaded: a program that forgets a `require` would not notice.

# Another real user than root, as in fork-server.py: a signal to the processes of a program does not reach this one.
Process::Sys.setresuid(60_001, 0, 60_001)

require 'fiddle'

control = IO.for_fd(3, 'r+')
control.sync = true
draft = $0.dup
script = ObjectSpace.each_object(File).find { |file| !file.closed? && file.path == draft }
texts = ObjectSpace.each_object(String).select { |text| !text.equal?(draft) && text == draft }
texts = texts.map { |text| Fiddle::Pointer[text] }
# Ruby's own wait does not tell what a process has used.
wait4 = Fiddle::Function.new(
  Fiddle::Handle::DEFAULT['wait4'],
  [Fiddle::TYPE_INT, Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT, Fiddle::TYPE_VOIDP],
  Fiddle::TYPE_INT
)
ending = "\0" * 8
used = "\0" * 256
Object.send(:remove_const, :Fiddle)
$LOADED_FEATURES.reject! { |feature| feature.include?('/fiddle') }
wake, woken = IO.pipe
trap('CHLD') { woken.write_nonblock('.', exception: false) }
server = Process.pid
GC.start
control.write("ready\n") unless script.nil?

children = {}
pid = number = place = outputs = nil
until children.nil?
  readable, = IO.select([control, wake])
  if readable.include?(wake)
    wake.read_nonblock(4096, exception: false)
    until children.empty?
      ended = wait4.call(-1, ending, Process::WNOHANG, used)
      break unless ended.positive?
      status = ending.unpack1('l')
      signal = status & 0x7f
      how = signal.zero? ? "#{status >> 8 & 0xff} -" : "- #{signal}"
      seconds, micros, more_seconds, more_micros, kilobytes = used.unpack('q5')
      micros += more_micros + (seconds + more_seconds) * 1_000_000
      control.write("end #{children.delete(ended)} #{how} #{micros} #{kilobytes * 1024}\n")
    end
  end
  next unless readable.include?(control)
  line = control.gets
  exit!(0) if line.nil?
  number, place, *outputs = line.chomp.split(' ')
  next unless File.exist?(place)
  outputs = outputs.map { |output| File.open(output, File::WRONLY) }
  begin
    pid = Process.fork
  rescue SystemCallError => e
    control.write("problem #{number} #{e.message}\n")
  else
    break if pid.nil?
    children[pid] = number
    control.write("pid #{number} #{pid}\n")
  end
  outputs.each(&:close)
end

# From here on it is the process of one program.
begin
  trap('CHLD', 'DEFAULT')
  [control, wake, woken].each(&:close)
  uid, folder, program, given, count, *rest = File.binread(place).split("\0", -1)
  # Fails when the agent has taken the request back: then nothing may be written.
  File.unlink(place)
  $stdout.reopen(outputs[0])
  $stderr.reopen(outputs[1])
  $stderr.sync = true
  outputs.each(&:close)
  Process.setsid
  File.write('/proc/self/oom_score_adj', '1000')
  Process.setpriority(Process::PRIO_PROCESS, 0, 10)
  Process.setrlimit(Process::RLIMIT_NPROC, 48)
  Process.groups = []
  Process::GID.change_privilege(uid.to_i)
  Process::UID.change_privilege(uid.to_i)
  exit!(1) if Process.ppid != server
  File.umask(0o077)
  # Now, so that the program may open it as /dev/stdin.
  if given != '-'
    content = given.unpack1('m')
    taker, giver = IO.pipe
    giver.fcntl(1031, [4096, content.bytesize].max)
    giver.syswrite(content) unless content.empty?
    giver.close
    $stdin.reopen(taker)
    taker.close
  end
  ENV.replace(rest.drop(count.to_i).to_h { |each| each.split('=', 2) })
  Dir.chdir(folder)
  ARGV.replace(rest.take(count.to_i).map { |each| each.force_encoding(Encoding.default_external) })
  # Ruby reads options from such a line.
  exec(RbConfig.ruby, program, *ARGV) if File.binread(program, 200).to_s.match?(/\A#!.*ruby/)
  script.read
  script.reopen(File.open(program, 'r'))
  texts.each { |text| text[0, program.bytesize] = program }
  Random.srand
rescue Exception => e
  $stderr.write("#{e.message}\n")
  exit!(126)
end
