from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0003_messages_changed'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='messagepart',
            index=models.Index(fields=['message', 'id', 'size_bytes'], name='message_parts_sizes_idx'),
        ),
    ]
